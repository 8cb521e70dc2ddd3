#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The utilities that people try a link with first, as Debian ships them: ibverbs-utils, rdmacm-utils, perftest, qperf.
# Server and client talk to each other over one link; both must say that all went well, and the link must have carried
# it. Not here: udpong, as datagrams of rsockets are addressed by LID, and mckey over IPv6, as the kernel's rdma_cm joins
# IPv4 groups only; both hold for every RoCEv2 device. mckey sends to its own group.
#
#	run.sh [PATTERN...]	only the cases whose name matches; !PATTERN: those whose name does not

cd "$(dirname "$0")/../.." || exit 1
. selftests/lib/tap.sh
. selftests/lib/programs.sh

link=${HROCE_LINK:-hroce0}
addr=10.77.0.1
addr6=fd77::1
group=239.77.0.1
limit=30
log=/tmp/utility
patterns=("${@:-*}")
preload=/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so

joined() { ip maddr show | grep -w "$group"; }

# The firmware of the device has the version of the module, in sysfs and in what the library makes of the number.
version() {
	local version

	version=$(cat /sys/module/hroce/version) && cat "/sys/class/infiniband/$link/fw_ver" &&
		[ "$(cat "/sys/class/infiniband/$link/fw_ver")" = "$version" ] &&
		ibv_devinfo -d "$link" | grep -P "fw_ver:\s+\Q$version\E$"
}

# usage: wanted NAME
wanted() { is_wanted "$1" "${patterns[@]}"; }

# usage: utility NAME READY SERVER... -- CLIENT...
# READY is a command that succeeds as soon as the server can be talked to.
utility() {
	local name=$1 ready=$2 serve=()

	shift 2
	while [ "$1" != -- ]; do
		serve+=("$1")
		shift
	done
	shift
	! wanted "$name" || tap_case "utils.$name" both "$ready" "$@"
}

# Server and client. A server that does not end by itself is ended.
both() {
	local ready=$1 status=0 before server

	shift
	before=$(received "$link")
	timeout -k 5 "$limit" "${serve[@]}" >$log.server 2>&1 &
	server=$!
	# shellcheck disable=SC2086 # a command with an argument
	wait_for 10 $ready || status=1
	[ "$status" != 0 ] || timeout -k 5 "$limit" "$@" >$log.client 2>&1 </dev/null || status=$?
	[ "${stays:-}" = "" ] || kill "$server"
	wait "$server" || [ -n "${stays:-}" ] || status=$?
	if [ "$status" = 0 ] && [ "$(received "$link")" -gt "$before" ]; then
		return
	fi
	echo "status $status; delivered before: $before, after: $(received "$link")"
	echo "\$ ${serve[*]}"
	cat $log.server
	echo "\$ $*"
	cat $log.client
	return 1
}

# usage: pingpong NAME PROGRAM OPTION...
pingpong() {
	local name=$1 program=$2

	shift 2
	utility "$name" "tcp_listens 18515" "$program" -d "$link" -g "$gid" -n 200 "$@" -- \
		"$program" -d "$link" -g "$gid" -n 200 "$@" 127.0.0.1
}

# usage: perf NAME PROGRAM OPTION...
perf() {
	local name=$1 program=$2 via=(-x "$gid") to=127.0.0.1 ready="tcp_listens 18515"

	shift 2
	if [[ " $* " == *" -R "* ]]; then
		via=()
		to=$addr
		ready=cm_listens
	fi
	utility "$name" "$ready" "$program" -F -d "$link" "${via[@]}" -n 100 "$@" -- \
		"$program" -F -d "$link" "${via[@]}" -n 100 "$@" "$to"
}

# usage: cm NAME SERVER-COMMAND -- CLIENT-COMMAND
cm() {
	local name=$1

	shift
	utility "$name" cm_listens "$@"
}

gid=$(gid_index "$link" 0000:0000:0000:0000:0000:ffff) || exit
gid6=$(gid_index "$link" fd77) || exit
ls -d /sys/class/infiniband/"$link" >/dev/null || exit

! wanted ibv_devices || tap_case utils.ibv_devices eval "ibv_devices | grep -w '$link'"
! wanted ibv_devinfo || tap_case utils.ibv_devinfo eval "ibv_devinfo -v -d '$link' | grep -w PORT_ACTIVE"
! wanted version || tap_case utils.version version
! wanted rdma_link || tap_case utils.rdma_link eval "rdma link show '$link/1' | grep -w ACTIVE"

for kind in rc uc ud srq; do
	pingpong "ibv_${kind}_pingpong" "ibv_${kind}_pingpong" -c
done
pingpong ibv_xsrq_pingpong ibv_xsrq_pingpong
pingpong ibv_rc_pingpong_events ibv_rc_pingpong -c -e
pingpong ibv_rc_pingpong_timestamps ibv_rc_pingpong -c -t
pingpong ibv_rc_pingpong_new_send ibv_rc_pingpong -c -N
pingpong ibv_srq_pingpong_events ibv_srq_pingpong -c -e
gid=$gid6 pingpong ibv_rc_pingpong_ipv6 ibv_rc_pingpong -c

for program in ib_write_bw ib_write_lat ib_read_bw ib_read_lat ib_send_bw ib_send_lat; do
	perf "$program" "$program" -s 65536
	perf "cm_$program" "$program" -R -s 4096
	[ "${program#ib_read}" != "$program" ] || perf "${program}_uc" "$program" -c UC -s 4096
	[ "${program%_bw}" = "$program" ] || perf "${program}_both_ways" "$program" -b -q 4 -s 32768
done
perf ib_write_bw_all_sizes ib_write_bw -a -n 20
perf ib_write_bw_inline ib_write_bw -I 64 -s 64
perf ib_write_bw_mtu ib_write_bw -m 1024 -s 65536
perf ib_write_lat_inline ib_write_lat -I 64 -s 64
# On one CPU, who polls for an answer may keep the other from giving it until its time slice ends.
few=(-n 20)
for program in ib_write_bw ib_write_lat ib_read_bw ib_send_bw ib_send_lat; do
	perf "${program}_xrc" "$program" -c XRC -s 4096 "${few[@]}"
done
perf ib_atomic_bw_xrc ib_atomic_bw -c XRC
for program in ib_write_bw ib_read_lat ib_send_bw; do
	perf "${program}_odp" "$program" --odp
done
perf ib_send_bw_odp_srq ib_send_bw --odp --use-srq -s 65536
perf ib_read_bw_outstanding ib_read_bw -o 16 -s 65536
perf ib_read_bw_events ib_read_bw -e -s 4096
for program in ib_send_bw ib_send_lat; do
	perf "${program}_ud" "$program" -c UD -s 1024 "${few[@]}"
	perf "cm_${program}_ud" "$program" -c UD -R -s 1024
	perf "${program}_srq" "$program" --use-srq -s 4096
	perf "${program}_events" "$program" -e -s 4096
	perf "${program}_inline" "$program" -I 64 -s 64
done
gid=$gid6 perf ib_send_bw_multicast ib_send_bw -c UD -g -s 1024
for program in ib_atomic_bw ib_atomic_lat; do
	perf "${program}_fetch_add" "$program" -A FETCH_AND_ADD
	perf "${program}_compare_swap" "$program" -A CMP_AND_SWAP
done

cm rping rping -s -a "$addr" -C 20 -V -- rping -c -a "$addr" -C 20 -V -v
cm rping_ipv6 rping -s -a "$addr6" -C 20 -V -- rping -c -a "$addr6" -C 20 -V
stays=1 cm rping_persistent rping -s -P -a "$addr" -V -- rping -c -a "$addr" -C 20 -V
cm ucmatose ucmatose -c 50 -C 20 -S 4096 -- ucmatose -s "$addr" -c 50 -C 20 -S 4096
cm ucmatose_migrate ucmatose -c 4 -C 20 -m -- ucmatose -s "$addr" -c 4 -C 20 -m
cm udaddy udaddy -c 10 -C 20 -S 1024 -- udaddy -s "$addr" -c 10 -C 20 -S 1024
stays=1 cm cmtime cmtime -c 200 -- cmtime -s "$addr" -c 200
cm rdma_server rdma_server -- rdma_client -s "$addr"
cm rdma_xserver_rc rdma_xserver -c r -- rdma_xclient -s "$addr" -c r
cm rdma_xserver_xrc rdma_xserver -c x -- rdma_xclient -s "$addr" -c x
cm rstream rstream -S 65536 -C 200 -T v -- rstream -s "$addr" -S 65536 -C 200 -T v
# A client that polls ends with POLLHUP (16) if the server, which has to end well, was faster to go: on any device.
cm rstream_async rstream -S 65536 -C 50 -T a -T v -- \
	bash -c "rstream -s $addr -S 65536 -C 50 -T a -T v || [ \$? = 16 ]"
cm riostream riostream -S 65536 -C 100 -T v -- riostream -s "$addr" -S 65536 -C 100 -T v
utility mckey joined mckey -m "$group" -b "$addr" -C 10 -- mckey -m "$group" -b "$addr" -s -C 10
head -c 3000000 /dev/urandom >$log.file
stays=1 cm rcopy rcopy -- bash -c "rcopy $log.file $addr:$log.copy && cmp $log.file $log.copy"
# The example for programmers.
example() {
	make -s -C user/examples B=/tmp && head -c 1000000 /dev/urandom >$log.file || return
	serve=(bash -c "/tmp/put -s >$log.copy")
	both cm_listens bash -c "/tmp/put $addr <$log.file" && cmp $log.file $log.copy
}
! wanted example || tap_case utils.example example
# A program of TCP that knows nothing of RDMA.
cm librspreload bash -c "LD_PRELOAD=$preload exec nc.traditional -l -p 5001 -s $addr >$log.copy" -- \
	bash -c "LD_PRELOAD=$preload nc.traditional -q 1 $addr 5001 <$log.file && cmp $log.file $log.copy"
# Another, which needs a select() other than that of librspreload. With several streams (-P) rpoll() of librdmacm stands
# still, on any device: it does not clear its signals when its time is over (fixed in rdma-core 63).
selects=/tmp/select.so
cc -shared -fPIC -o $selects selftests/utils/select.c || exit
iperf() {
	local name=$1

	shift
	cm "$name" env LD_PRELOAD="$selects $preload" iperf3 -s -1 -B "$addr" -- \
		bash -c "LD_PRELOAD='$selects $preload' iperf3 -c $addr -n 20M $* 2>&1 | tee $log.iperf && grep -q 'iperf Done' $log.iperf"
}
iperf iperf3
iperf iperf3_reverse -R
# It knows GIDs only through rdma_cm, and its UD not even then.
utility cm_qperf "tcp_listens 19765" qperf -- qperf -t 1 -cm 1 "$addr" rc_bw rc_lat rc_rdma_write_bw rc_rdma_read_lat quit
tap_done
