#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# hroce and rdma_rxe talk with each other, each in both roles.
#
#	initial namespace                    namespace neB-PID
#	+----------------------+             +----------------------+
#	| link ira (rdma_rxe)  |             | link irb (hroce)     |
#	| veth ia  10.98.0.1   |<----------->| veth ib  10.98.0.2   |
#	|          fd98::1     |             |          fd98::2     |
#	+----------------------+             +----------------------+
#
# rdma_rxe 6.12 works in the initial namespace only, and takes port 4791 there when it is loaded: the guest must have no
# hroce link there (run --no-load). Arguments: the parts to run, of verbs, traffic and programs.

. "$(dirname "$0")/../net/lib.sh"
# shellcheck source=selftests/lib/programs.sh
. lib/programs.sh

parts=${*:-verbs traffic programs}

trap 'ip link del ia 2>/dev/null; cleanup' EXIT

setup() {
	modprobe -a rdma_ucm ib_uverbs rdma_rxe hroce || return
	new_ns "$nsB" || return
	join_ends 4200 "" ia "$nsB" ib || return
	ip link set ia up && ip address add 10.98.0.1/24 dev ia && ip address add fd98::1/64 dev ia nodad || return
	address "$nsB" ib 2 98 || return
	links+=(ira)
	rdma link add ira type rxe netdev ia && add_link "$nsB" irb ib
}

# usage: role rxe-asks|hroce-asks: who is the requester, or client, in what follows
role() {
	role=$1
	if [ "$role" = rxe-asks ]; then
		export HROCE_DEV=ira HROCE_DEV2=irb HROCE_NS='' HROCE_NS2=$nsB
		client=() client_dev=ira server=(ip netns exec "$nsB") server_dev=irb server_ip=10.98.0.2 server_ip6=fd98::2
	else
		export HROCE_DEV=irb HROCE_DEV2=ira HROCE_NS=$nsB HROCE_NS2=''
		client=(ip netns exec "$nsB") client_dev=irb server=() server_dev=ira server_ip=10.98.0.1 server_ip6=fd98::1
	fi
	export from=$HROCE_DEV to=$HROCE_DEV2
}

# usage: verbs PROGRAM [PATTERN...]: cases of the verbs tests between the two, renamed after the role
verbs() { tap_stream interop. named_after_role "$@"; }

named_after_role() {
	"$build/$1" "${@:2}" | sed -E "s/^((not )?ok [0-9]+ - )(\w+\.\w+)/\1\3_$role/"
	return "${PIPESTATUS[0]}"
}

# What hroce as a requester sees of refusals is told by rdma_rxe's NAKs; events at the responder are hroce's alone.
run_verbs() {
	verbs data 'lengths_*' psn_wrap megabytes 'zero_*' both_directions write_then_read_back 'reads_*' 'fence*'
	verbs sge random_splits many_regions long_list 'small_message*' ring_wrap
	verbs atomics
	[ "$role" = rxe-asks ] || verbs masked
	verbs placement 'words_are*' keeps_its_place many_at_once
	verbs ud lengths grh_names_sender reply_by_completion many_to_one
	# rdma_rxe receives multicast only for groups that librdmacm made the IP stack join.
	[ "$role" = hroce-asks ] || verbs ud multicast_reaches_members
	verbs retry 'late_peer*' rnr_three_retries rnr_seven_never_ends rnr_in_the_middle dead_peer_three_retries
	verbs cm connect_and_talk many_at_once rejected nobody_listens datagram_service
	[ "$role" = hroce-asks ] ||
		verbs errors 'wrong_rkey*' 'beyond_the_end*' 'mr_lacks*' 'qp_lacks*' 'mr_gone*' 'no_responder*'
}

# usage: both_ends COMMAND...: netem, or "del", on both ends
both_ends_netem() {
	tc qdisc replace dev ia root netem limit 10000 "$@" && tc -n "$nsB" qdisc replace dev ib root netem limit 10000 "$@"
}

netem_off() {
	tc qdisc del dev ia root
	tc -n "$nsB" qdisc del dev ib root
}

# rdma_rxe 6.12 as a responder cannot answer once more, after a loss, a READ of length 0 (it compares the R_Key with 0,
# and drops the request), nor any other READ if a READ or WRITE of length 0 came after it (read_reply() takes the region
# of the latest request, which is none: a WARNING in rxe_mr_copy(), and NAK remote access). A requester asks again after
# a loss, and of a peer whose CPU was busy for longer than a few round trips. So rdma_rxe gets no requests of length 0.
# rdma_rxe 6.12 as a requester takes an ACK of an earlier packet that comes between responses to a READ for the end of
# these, gives the READ up at the next one, and completes it with success: a WARNING in rxe_completer(), once after it was
# loaded. A WRITE that is sent again before a READ, whose last response is lost, has such an ACK.
lossy_traffic() {
	local seed

	for seed in 1 2 3; do
		traffic -s $seed "$@" && return
		[ "$role" = rxe-asks ] && dmesg | grep 'WARNING: .* rxe_completer' || return 1
	done
	echo "rdma_rxe completes READs with success that it has given up"
	return 4
}

run_traffic() {
	local nonzero=()

	[ "$role" = rxe-asks ] || nonzero=(-z)
	tap_case "interop.traffic_rc_$role" traffic -n 300 "${nonzero[@]}"
	tap_case "interop.traffic_rc_small_mtu_$role" traffic -n 100 -m 256 -x 20000 "${nonzero[@]}"
	tap_case "interop.traffic_uc_$role" traffic -t uc -n 100
	tap_case "interop.traffic_ud_$role" traffic -t ud -n 100
	export HROCE_FAMILY=6
	tap_case "interop.traffic_rc_ipv6_$role" traffic -n 200 "${nonzero[@]}"
	tap_case "interop.traffic_uc_ipv6_$role" traffic -t uc -n 60
	tap_case "interop.traffic_ud_ipv6_$role" traffic -t ud -n 60
	unset HROCE_FAMILY
	# Frames one by one: a super-packet would be lost as a whole.
	knob irb gso N
	both_ends_netem loss 1%
	tap_case "interop.loss_rc_$role" lossy_traffic -e 14 -n 120 -x 30000 "${nonzero[@]}"
	tap_case "interop.loss_uc_$role" traffic -t uc -L -n 80 -x 20000
	tap_case "interop.loss_ud_$role" traffic -t ud -L -n 80
	HROCE_FAMILY=6 tap_case "interop.loss_rc_ipv6_$role" lossy_traffic -e 14 -n 60 -x 30000 "${nonzero[@]}"
	netem_off
	knob irb gso Y
	[ "$role" = hroce-asks ] || tap_case "interop.late_$role" run_late
	tap_case "interop.question_1500_$role" run_question 1500 "${nonzero[@]}"
	tap_case "interop.question_9000_$role" run_question 9000 "${nonzero[@]}"
	tap_case "interop.spray_$role" run_spray "${nonzero[@]}"
	tap_case "interop.second_$role" run_second "${nonzero[@]}"
	ip link set ia mtu 4200 && ip -n "$nsB" link set ib mtu 4200 && reaches "$nsB" 10.98.0.1 fd98::1
}

# One packet in 20 is overtaken by those of half a millisecond: rdma_rxe goes back for none of them in the end.
run_late() {
	local sent saved status=0

	sent=$(counter irb nak_seq_sent)
	tc qdisc replace dev ia root netem limit 10000 delay 500us reorder 95% || return
	perftest ib_write_bw -s 65536 -n 2000 || status=$?
	tc qdisc del dev ia root
	sent=$(($(counter irb nak_seq_sent) - sent))
	saved=$(counter irb nak_seq_saved)
	echo "$saved gaps closed while a NAK was held, $sent NAKs"
	[ $status = 0 ] && [ "$saved" -gt $((4 * sent)) ]
}

# hroce asks for longer packets, which rdma_rxe drops.
run_question() {
	local asked

	ip link set ia mtu "$1" && ip -n "$nsB" link set ib mtu "$1" && reaches "$nsB" 10.98.0.1 fd98::1 || return
	asked=$(counter irb mtu_asked)
	traffic -n 100 -x 65536 "${@:2}" || return
	echo "asked $(($(counter irb mtu_asked) - asked)) times"
	[ "$(counter irb mtu_asked)" -gt "$asked" ] && [ "$(counter irb mtu_agreed)" = 0 ]
}

# hroce would send requests by several ways, and asks first, which rdma_rxe drops.
run_spray() {
	local asked status=0

	asked=$(counter irb sack_asked)
	knob irb spray 4 || return
	traffic -n 60 -x 400000 "$@" || status=$?
	knob irb spray 1
	echo "asked $(($(counter irb sack_asked) - asked)) times"
	[ $status = 0 ] && [ "$(counter irb sack_asked)" -gt "$asked" ] && [ "$(counter irb sprayed)" = 0 ]
}

# hroce asks for a second address, which rdma_rxe drops.
run_second() {
	local status=0

	ip -n "$nsB" link add is mtu 9000 type dummy && address "$nsB" is 1 99 && add_link "$nsB" irs is &&
		knob irb second irs || return
	traffic -T 5 -x 65536 "$@" &
	wait_for 4 asks_in_vain || status=1
	wait $! || status=1
	rdma link del irs && ip -n "$nsB" link del is || status=1
	return $status
}
asks_in_vain() { rdma -dd resource show qp link irb | grep -q 'drv_second asked'; }

# usage: gid_of LINK [6]: its index
gid_of() {
	local prefix=0000:0000:0000:0000:0000:ffff:

	[ "${2:-4}" = 4 ] || prefix=fd98:
	gid_index "$1" $prefix
}

# usage: pair PORT "SERVER COMMAND" "CLIENT COMMAND": start one, wait until it listens, run the other
pair() {
	local port=$1 pid status=0

	# shellcheck disable=SC2086
	"${server[@]}" timeout 60 $2 &
	pid=$!
	[ "$port" = 0 ] || "${server[@]}" lib/listens 15 "$port" || status=1
	# shellcheck disable=SC2086
	[ $status != 0 ] || "${client[@]}" timeout 60 $3 || status=$?
	[ $status = 0 ] || kill $pid 2>/dev/null
	wait $pid || status=1
	return $status
}

pingpong() {
	local port=$((18800 + tap_count)) family=$2 options

	options="-n 100 -p $port"

	[ "$1" = ud ] || options+=" -m 1024"
	[ "$1" = srq ] || options+=" -c"
	pair "$port" "ibv_$1_pingpong -d $server_dev -g $(gid_of $server_dev "$family") $options" \
		"ibv_$1_pingpong -d $client_dev -g $(gid_of $client_dev "$family") $options $server_ip"
}

perftest() {
	local port=$((18800 + tap_count)) options

	options="-F -n 100 -p $port ${*:2}"
	pair "$port" "$1 -d $server_dev -x $(gid_of $server_dev) $options" \
		"$1 -d $client_dev -x $(gid_of $client_dev) $options $server_ip"
}

rdma_cm_listens() { rdma resource show cm_id | grep -q "LISTEN.*:$1 "; }

# rping finds its peer by rdma_cm alone.
rping() {
	local pid status=0

	"${server[@]}" timeout 60 rping -s -a "$1" -p 7190 -V -C 20 &
	pid=$!
	wait_for 15 rdma_cm_listens 7190 || status=1
	[ $status != 0 ] || "${client[@]}" timeout 60 rping -c -a "$1" -p 7190 -V -C 20 || status=$?
	[ $status = 0 ] || kill $pid 2>/dev/null
	wait $pid
	return $status
}

run_programs() {
	local it

	for it in rc uc ud srq; do
		tap_case "interop.ibv_${it}_pingpong_$role" pingpong $it 4
	done
	tap_case "interop.ibv_rc_pingpong_ipv6_$role" pingpong rc 6
	tap_case "interop.rping_$role" rping "$server_ip"
	tap_case "interop.rping_ipv6_$role" rping "$server_ip6"
	tap_case "interop.ib_write_bw_$role" perftest ib_write_bw -s 65536
	tap_case "interop.ib_read_bw_$role" perftest ib_read_bw -s 65536
	tap_case "interop.ib_send_lat_$role" perftest ib_send_lat
	[ "$role" = hroce-asks ] || return
	tap_case "interop.ib_send_bw_$role" perftest ib_send_bw -s 65536
	tap_case "interop.ib_write_lat_$role" perftest ib_write_lat
	tap_case "interop.ib_atomic_lat_$role" perftest ib_atomic_lat
	tap_case "interop.ib_send_lat_ud_$role" perftest ib_send_lat -c UD
	tap_case "interop.ib_send_bw_uc_$role" perftest ib_send_bw -c UC -s 4096
}

tap_case interop.setup setup
[ "$tap_failures" = 0 ] || { tap_done; exit 1; }
for role in rxe-asks hroce-asks; do
	role $role
	for part in $parts; do
		"run_$part"
	done
done
tap_done
