#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Links over RDMA hardware, for which rdma_rxe stands in.
#
#	initial namespace                        namespace neB-PID
#	+--------------------------------+       +---------------------------+
#	| ofl   hroce: software, or a    |       | ofp  hroce, software      |
#	|       facade of ofx (rdma_rxe) |       |                           |
#	| veth  ia  10.96.0.1            |<----->| veth ib  10.96.0.2        |
#	| vlan  ia.7  10.97.0.1          |       | vlan ib.7  10.97.0.2      |
#	+--------------------------------+       +---------------------------+
#
# Run it where there is neither link nor module (run --no-load), as the module is loaded here, and rdma_rxe takes port
# 4791 when it is loaded. Arguments: the parts to run, of those at the end of this file.

. "$(dirname "$0")/../net/lib.sh"

parts=${*:-detect time policy fatal cards open use cost hw cm flips unload exclusive}
programs=${OFFLOAD_BUILD:-$PWD/../build/selftests-offload}
sysfs=/sys/class/infiniband/ofl/offload
drivers=/sys/module/hroce/parameters/offload_drivers
log=/tmp/offload-$id
standin=$PWD/../build/standin-$(uname -r)/standin.ko
doorbell=/sys/module/standin/parameters/doorbell

trap 'rdma link del ofx 2>/dev/null; ip link del ia 2>/dev/null; cleanup' EXIT

setup() {
	modprobe -a rdma_ucm ib_uverbs rdma_rxe hroce || return
	new_ns "$nsB" || return
	ip link add ia mtu 4200 type veth peer name ib netns "$nsB" mtu 4200 || return
	ip link set ia up && ip address add 10.96.0.1/24 dev ia || return
	address "$nsB" ib 2 96 || return
	add_link "$nsB" ofp ib && rdma link add ofl type hroce netdev ia && links+=(ofl)
}

# usage: is NAME VALUE: what the link says of itself; its files are away for a moment when it flips
is() { [ "$(cat "$sysfs/$1" 2>/dev/null)" = "$2" ]; }

# usage: becomes software|hardware
becomes() { wait_for 20 is mode "$1" || { grep . $sysfs/*; return 1; }; }

admit() { echo "$1" >$drivers; }

hardware_comes() { rdma link add ofx type rxe netdev ia; }

# The end of rdma_rxe's device waits for its users.
hardware_goes() { rdma link del ofx; }

# usage: says TEXT...: has the kernel said all that since mark_log?
says() {
	local text

	for text; do
		log_since offload | grep -qF "$text" || { log_since offload; echo "not said: $text"; return 1; }
	done
}

# Detection.

knob_off() {
	[ "$(cat $drivers)" = mlx5,mlx4 ] && is mode software || return
	hardware_comes && wait_for 10 bash -c "ibv_devinfo -v -d ofx | grep -q 10.96.0.1" || return
	is mode software && is lower none && [ "$("$programs/opened" ofl name)" = ofl ]
}

knob_on() {
	mark_log offload
	admit mlx5,rxe && becomes hardware && is lower ofx/1 && is flips 1 || return
	says "ofl: hardware (policy auto; ofx port 1 offers RoCEv2 on ia)" || return
	[ "$("$programs/opened" ofl name)" = ofx ]
}

knob_refuses() {
	! admit rxe,nonesuch && ! admit 0 && ! admit 0x68726f63 && [ "$(cat $drivers)" = mlx5,rxe ] || return
	admit 14 && [ "$(cat $drivers)" = 14 ] && admit " mlx5, rxe " && [ "$(cat $drivers)" = "mlx5, rxe" ]
}

goes_and_comes() {
	local i

	for i in 1 2 3; do
		hardware_goes && becomes software && [ "$("$programs/opened" ofl name)" = ofl ] || return
		hardware_comes && becomes hardware && [ "$("$programs/opened" ofl name)" = ofx ] || return
	done
}

pkey_is() { [ "$(cat "/sys/class/infiniband/ofl/ports/1/pkeys/$1")" = "$2" ]; }

# The P_Key table is the link's. QP1 begins without the default partition, too.
keeps_pkeys() {
	local file=/sys/class/infiniband/ofl/set_pkey

	hardware_goes && becomes software && pkey_is 0 0xffff && echo 1 0x8001 >$file && echo 0 0 >$file || return
	hardware_comes && becomes hardware && [ ! -e $file ] && hardware_goes && becomes software || return
	pkey_is 0 0x0000 && pkey_is 1 0x8001 || { head /sys/class/infiniband/ofl/ports/1/pkeys/[01]; return 1; }
	rdma resource show qp link ofl/1 | grep "type GSI state RTS" || { rdma resource show qp; return 1; }
	echo 0 0xffff >$file && echo 1 0 >$file && hardware_comes && becomes hardware
}

seen_everywhere() {
	rdma link show ofl/1 | grep -q "link ofl/1 state ACTIVE .*netdev ia" &&
		rdma dev show ofl | grep -q "fw of-ofx/1" && ibv_devices | grep -q "ofl" &&
		ibv_devinfo -d ofl | grep -q PORT_ACTIVE || return
	rdma dev set ofx name ofy && wait_for 5 is lower ofy/1 && ibv_devinfo -d ofl >/dev/null &&
		rdma dev set ofy name ofx && wait_for 5 is lower ofx/1
}

# What a facade must not have: a CM agent, umad, addresses, hw_counters, a socket of its own.
nothing_of_its_own() {
	local node

	for node in /sys/class/infiniband_mad/umad*/ibdev; do
		[ ! -e "$node" ] || ! grep -q '^ofl$' "$node" || { echo "has MADs: $node"; return 1; }
	done
	[ "$(cat /sys/class/infiniband/ofl/ports/1/gids/*)" = 0000:0000:0000:0000:0000:0000:0000:0000 ] &&
		[ ! -e /sys/class/infiniband/ofl/ports/1/hw_counters/rx_packets ]
}

# ib_core takes '%' in the name that a device is registered with for a place where it writes a number.
keeps_name() {
	local name sysfs

	rdma dev set ofp name xAAAAAAAAAAAAAAAAAAAAAAAA || return
	for name in 'o%d' '%%' 'x%s'; do
		sysfs=/sys/class/infiniband/$name/offload
		rdma dev set ofl name "$name" && hardware_goes && becomes software && hardware_comes && becomes hardware &&
			rdma dev set "$name" name ofl || { rdma dev; return 1; }
	done
	rdma dev set xAAAAAAAAAAAAAAAAAAAAAAAA name ofp
}

# A VLAN belongs to the hardware below, with and without address; so does what is made when the hardware is there.
vlan() {
	ip link add link ia name ia.7 type vlan id 7 && ip link set ia.7 up || return
	rdma link add ofv type hroce netdev ia.7 && links+=(ofv) || return
	[ "$(cat /sys/class/infiniband/ofv/offload/mode)" = hardware ] || return
	ip address add 10.97.0.1/24 dev ia.7 || return
	ip -n "$nsB" link add link ib name ib.7 type vlan id 7 && address "$nsB" ib.7 2 97 &&
		add_link "$nsB" ofw ib.7 && reaches "$nsB" 10.97.0.1 || return
	# The rdma_rxe of 6.1 sends without the tag; the peer takes what is addressed to it, as IP does.
	pingpong rc ofw 10.97.0.2 ofv 10.97.0.1 || return
	rdma link del ofv && ip -n "$nsB" link del ib.7 && ip link del ia.7
}

bond() {
	ip link add ofbond type bond mode active-backup && ip link add ic type veth peer name id || return
	ip link set ic master ofbond && ip link set id up && ip link set ofbond up &&
		ip address add 10.95.0.1/24 dev ofbond || return
	rdma link add ofbx type rxe netdev ic || return
	wait_for 10 bash -c "ibv_devinfo -v -d ofbx | grep -q 10.95.0.1" || return
	mark_log offload
	! rdma link add ofc type hroce netdev ic || { echo "a port of the bond was taken"; return 1; }
	says "no link on ic: it is a port of ofbond, which belongs to ofbx; make the link there" || return
	rdma link add ofc type hroce netdev ofbond &&
		[ "$(cat /sys/class/infiniband/ofc/offload/lower)" = ofbx/1 ] || return
	rdma link del ofc && rdma link del ofbx && ip link del ofbond && ip link del ic
}

run_detect() {
	tap_case offload.driver_not_admitted knob_off
	tap_case offload.driver_admitted knob_on
	tap_case offload.bad_drivers_refused knob_refuses
	tap_case offload.goes_and_comes goes_and_comes
	tap_case offload.keeps_name keeps_name
	tap_case offload.keeps_pkeys keeps_pkeys
	tap_case offload.seen_by_usual_tools seen_everywhere
	tap_case offload.nothing_of_its_own nothing_of_its_own
	tap_case offload.vlan vlan
	tap_case offload.bond bond
}

# How long a change takes, from the command that makes the hardware come or go to the end of the change, by the clock of
# the kernel's log. What else the machine does adds to that, so there are several rounds until half of their changes have
# been in time; if the machine is too busy for that, one has to be.

# usage: said_at TEXT: when the kernel said that last, in milliseconds
said_at() { dmesg | sed -n "/$1/s/^\[ *\([0-9]*\)\.\([0-9]\{3\}\).*/\1\2/p" | tail -n 1; }

# usage: timed_flip MODE COMMAND
timed_flip() {
	mark_log timed
	"$2" && becomes "$1" >/dev/null && echo $(($(said_at "hroce: ofl: $1 ") - $(said_at "hroce selftest $id timed")))
}

in_time() {
	local round i all=() times

	becomes hardware || return
	for round in 1 2 3 4; do
		times=()
		for i in 1 2 3; do
			times+=("$(timed_flip software hardware_goes)" "$(timed_flip hardware hardware_comes)") || return
		done
		mapfile -t times < <(printf '%s\n' "${times[@]}" | sort -n)
		echo "# round $round: changes of the mode took ${times[*]} ms" >>"$log.time"
		[ "${times[2]}" -gt 100 ] || return 0
		all+=("${times[0]}")
	done
	for i in "${all[@]}"; do [ "$i" -gt 100 ] || return 0; done
	cat "$log.time"
	return 1
}

run_time() {
	: >"$log.time"
	tap_case offload.flips_within_100_ms in_time
	cat "$log.time"
}

# Policy.

software_refused() {
	mark_log offload
	! echo software >$sysfs/policy || { echo "accepted"; return 1; }
	is policy auto && is mode hardware && says "ofx takes UDP port 4791: rdma link delete ofx"
}

policy_kept() {
	hardware_goes && becomes software && echo software >$sysfs/policy || return
	hardware_comes && wait_for 10 is lower ofx/1 && is mode software && is policy software || return
	grep -q "but ofx takes UDP port 4791" $sysfs/reason || return
	echo hardware >$sysfs/policy && becomes hardware && is policy hardware || return
	hardware_goes && wait_for 10 is lower none && is mode hardware && is policy hardware
}

hardware_absent() {
	! "$programs/opened" ofl name 2>"$log" || { echo "opened"; return 1; }
	cat "$log"
	grep -q "ofl stands for hardware that is not there" "$log" || return
	hardware_comes && wait_for 10 is lower ofx/1 && [ "$("$programs/opened" ofl name)" = ofx ] || return
	! echo nonesuch >$sysfs/policy || return
	echo auto >$sysfs/policy && is mode hardware
}

run_policy() {
	tap_case offload.software_refused_over_hardware software_refused
	tap_case offload.policy_outlives_flips policy_kept
	tap_case offload.hardware_or_nothing hardware_absent
}

# What programs with an open software context see.
fatal() {
	local pid status=0

	hardware_goes && becomes software || return
	rm -f "$log"
	"$programs/opened" ofl fatal "$log" >"$log.out" 2>&1 &
	pid=$!
	wait_for 20 test -e "$log" || status=1
	hardware_comes
	wait $pid || status=1
	cat "$log.out"
	[ $status = 0 ] && [ "$(cat "$log.out")" = ofx ] && becomes hardware
}

run_fatal() {
	tap_case offload.software_context_ends fatal
}

# A card that is pulled, or loses its driver, with programs on it. rdma_rxe cannot do that: it waits for its users. This
# card is one of standin/, which libmlx5 and libmlx4 take for theirs, and the default of offload_drivers, too.

card_comes() { rdma link add "$1" type "$2" netdev ia; }

card_pulled() { rdma link del "$1"; }

driver_unloaded() { rmmod standin; }

# usage: card_goes CARD TYPE PORT DOORBELL COMMAND: COMMAND takes it away while a program has it open
card_goes() {
	local pid status=0 still=()

	card_comes "$1" "$2" && becomes hardware && is lower "$1/$3" || return
	# Without special page table entries ib_core's replacement for a page that is taken away is never given back.
	! grep -q "User Mode Linux" /proc/cpuinfo || still=(still)
	rm -f "$log"
	"$programs/opened" ofl unplug "$log" "${still[@]}" >"$log.out" 2>&1 &
	pid=$!
	wait_for 20 test -e "$log" || status=1
	# It has the card's library, whose insides the provider knows: else it would not have kept the link open.
	rdma resource show ctx dev "$1" | grep opened && rdma resource show ctx dev ofl | grep opened || status=1
	[ "$(cat $doorbell)" = "$4" ] || { echo "did not ring: $(cat $doorbell)"; status=1; }
	"$5" "$1" || status=1
	rm "$log"
	wait $pid || status=1
	cat "$log.out"
	# Between the end of the card and the change of the mode the program may have tried in vain to open the link.
	sed -i '/^libhroce: ofl stands for hardware that is not there/d' "$log.out"
	[ "$(cat "$log.out")" = "$1"$'\n'ofl ] && [ $status = 0 ] || return
	[ ! -e $doorbell ] || [ "$(cat $doorbell)" = "$4" ] || { echo "rang after its end: $(cat $doorbell)"; return 1; }
	becomes software
}

# usage: remedy CARD TYPE COMMAND: the remedy that the log names
remedy() {
	mark_log offload
	card_comes "$1" "$2" && becomes hardware && ! echo software >$sysfs/policy && says "$3" &&
		card_pulled "$1" && becomes software
}

roce_switched_off() {
	echo 0 >/sys/module/standin/parameters/roce
	card_comes mlx5_9 standin5 && wait_for 10 test -e /sys/class/infiniband/mlx5_9 && "$programs/opened" ofl name || return
	is mode software && is lower none && rdma link del mlx5_9 && echo 1 >/sys/module/standin/parameters/roce || return
	card_comes mlx5_9 standin5 && becomes hardware && card_pulled mlx5_9 && becomes software
}

carrier() { [ "$(cat "/sys/class/net/$1/carrier")" = 1 ]; }

# usage: bond_is NAME VALUE: what the link on the bond says of itself
bond_is() { [ "$(cat "/sys/class/infiniband/ofc/offload/$1" 2>/dev/null)" = "$2" ]; }

# usage: bond_moves_to PORT CARD
bond_moves_to() {
	ip link set ofbond type bond active_slave "$1" && wait_for 10 bond_is lower "$2/1" ||
		{ grep . /sys/class/infiniband/ofc/offload/*; return 1; }
}

bond_of_cards() {
	ip link add ofbond type bond mode active-backup && ip link add ic type veth peer name id &&
		ip link add ie type veth peer name ig && ip link set id up && ip link set ig up &&
		ip link set ic master ofbond && ip link set ie master ofbond && ip link set ofbond up &&
		ip address add 10.95.0.1/24 dev ofbond && rdma link add mlx5_7 type standin5 netdev ic &&
		rdma link add mlx5_8 type standin5 netdev ie && wait_for 10 carrier ic && wait_for 10 carrier ie || return
	rdma link add ofc type hroce netdev ofbond && wait_for 10 bond_is mode hardware
}

bond_ends() {
	rdma link del ofc && rdma link del mlx5_7 && rdma link del mlx5_8 &&
		ip link del ofbond && ip link del ic && ip link del ie
}

# Both cards have the default GID of the bond; the link stands for the one that has its addresses.
bond_follows_addresses() {
	bond_of_cards && bond_moves_to ie mlx5_8 && bond_moves_to ic mlx5_7 && bond_ends
}

# ib_core takes all GIDs of a bond that fails over from the cards, which need time to add them again. The link stays over
# hardware, until no card has had any for a second.
bond_keeps_hardware() {
	local gid_ms=/sys/module/standin/parameters/gid_ms flips

	bond_of_cards && flips=$(cat /sys/class/infiniband/ofc/offload/flips) && echo 20 >$gid_ms &&
		bond_moves_to ie mlx5_8 && bond_moves_to ic mlx5_7 || return
	bond_is flips "$flips" || { grep . /sys/class/infiniband/ofc/offload/*; return 1; }
	echo 0 >$gid_ms && ip link set ic nomaster && ip link set ie nomaster && wait_for 10 bond_is mode software && bond_ends
}

# usage: mac_is MAC GID: set it, until the card has the default GID that it makes
mac_is() { ip link set ia address "$1" && wait_for 10 grep -qx "$2" /sys/class/infiniband/mlx5_9/ports/1/gids/*; }

# So it does with those of a netdev whose MAC changes.
mac_changes() {
	local gid_ms=/sys/module/standin/parameters/gid_ms old gid flips

	card_comes mlx5_9 standin5 && becomes hardware && old=$(cat /sys/class/net/ia/address) || return
	gid=$(grep -hm 1 ^fe80 /sys/class/infiniband/mlx5_9/ports/1/gids/*) && flips=$(cat $sysfs/flips) && echo 20 >$gid_ms &&
		mac_is 02:00:00:00:95:01 fe80:0000:0000:0000:0000:00ff:fe00:9501 && mac_is "$old" "$gid" || return
	is flips "$flips" || { grep . $sysfs/*; return 1; }
	echo 0 >$gid_ms && card_pulled mlx5_9 && becomes software
}

run_cards() {
	hardware_goes
	becomes software && admit mlx5,mlx4 && insmod "$standin" || { tap_not_ok offload.standin; return; }
	tap_case offload.mlx5_pulled card_goes mlx5_9 standin5 1 0000000000000001 card_pulled
	tap_case offload.mlx4_second_port_pulled card_goes mlx4_9 standin4 2 1200000100000000 card_pulled
	tap_case offload.mlx5_remedy remedy mlx5_9 standin5 "devlink dev param set platform/standin name enable_roce value false"
	tap_case offload.mlx4_remedy remedy mlx4_9 standin4 "modprobe -r mlx4_ib"
	tap_case offload.roce_switched_off roce_switched_off
	tap_case offload.bond_follows_addresses bond_follows_addresses
	tap_case offload.bond_keeps_hardware bond_keeps_hardware
	tap_case offload.mac_changes mac_changes
	tap_case offload.driver_unloaded card_goes mlx5_9 standin5 1 0000000000000001 driver_unloaded
	admit rxe
	hardware_comes
	becomes hardware || tap_not_ok offload.standin
}

# Use of the hardware through the link.

# usage: gid_of LINK ADDRESS: index of a RoCEv2 GID; that of a facade is in its lower device's table
gid_of() { ibv_devinfo -v -d "$1" | sed -n "s/.*GID\[ *\([0-9]*\)\]:[[:space:]]*::ffff:${2//./\\.}.*/\1/p" | head -1; }

# usage: at LINK COMMAND...: where the link's netdev is
at() {
	local where=()

	[[ $1 != of[pw] ]] || where=(ip netns exec "$nsB")
	shift
	"${where[@]}" timeout 60 "$@"
}

# usage: two_programs PORT SERVER-LINK CLIENT-LINK -- SERVER... -- CLIENT...
two_programs() {
	local port=$1 server=$2 client=$3 pid status=0 command=() ns=()

	shift 4
	while [ "$1" != -- ]; do command+=("$1"); shift; done
	shift
	[ "$server" != ofp ] && [ "$server" != ofw ] || ns=(ip netns exec "$nsB")
	at "$server" "${command[@]}" &
	pid=$!
	wait_for 15 bash -c "${ns[*]} ss -ltn | grep -q ':$port '" && at "$client" "$@" || status=1
	[ $status = 0 ] || kill $pid 2>/dev/null
	wait $pid || status=1
	return $status
}

# usage: pingpong KIND SERVER ADDRESS CLIENT ADDRESS [OPTION...]
pingpong() {
	local port=$((18900 + RANDOM % 1000)) options

	options=(-n 20 -p "$port" "${@:6}")
	two_programs "$port" "$2" "$4" -- "ibv_$1_pingpong" -d "$2" -g "$(gid_of "$2" "$3")" "${options[@]}" -- \
		"ibv_$1_pingpong" -d "$4" -g "$(gid_of "$4" "$5")" "${options[@]}" "$3"
}

# usage: perftest PROGRAM SERVER ADDRESS CLIENT ADDRESS [OPTION...]
perftest() {
	local port=$((18900 + RANDOM % 1000)) options

	options=(-F -n 20 -p "$port" "${@:6}")
	two_programs "$port" "$2" "$4" -- "$1" -d "$2" -x "$(gid_of "$2" "$3")" "${options[@]}" -- \
		"$1" -d "$4" -x "$(gid_of "$4" "$5")" "${options[@]}" "$3"
}

# usage: descriptors PID: those that were opened from the link's node on, up to the lower device's
descriptors() {
	local it fd from='' to=''

	for it in "/proc/$1/fd"/*; do
		[ "$(readlink "$it")" != "$(uverbs_of ofl)" ] || from=${it##*/}
		[ "$(readlink "$it")" != "$(uverbs_of ofx)" ] || to=${it##*/}
	done
	[ -n "$from" ] && [ -n "$to" ] || return
	for ((fd = from; fd < to; fd++)); do
		[ ! -e "/proc/$1/fd/$fd" ] || echo "$fd"
	done
}

# While a program sits on the link: its objects are on the lower device, and nothing calls into the link any more, by
# its node or by anything else that was opened for it.
resources_are_the_hardwares() {
	local port=18890 pid status=0 fds calls

	strace -f -y -o "$log.strace" ibv_rc_pingpong -d ofl -g "$(gid_of ofl 10.96.0.1)" -n 20 -p $port >"$log.out" 2>&1 &
	pid=$!
	wait_for 20 bash -c "ss -ltn | grep -q ':$port '" || status=1
	rdma resource show ofl
	rdma resource show ofx
	rdma resource show qp link ofx/1 | grep -q pingpong && ! rdma resource show qp link ofl/1 | grep -q pingpong &&
		rdma resource show mr dev ofx | grep -q pingpong && ! rdma resource show mr dev ofl | grep -q . &&
		rdma resource show ctx dev ofl | grep -q pingpong || status=1
	fds=$(descriptors "$(pgrep -P $pid)")
	at ofp ibv_rc_pingpong -d ofp -g "$(gid_of ofp 10.96.0.2)" -n 20 -p $port 10.96.0.1 || status=1
	[ $status = 0 ] || kill $pid
	wait $pid || status=1
	echo "descriptors of the link:" $fds
	[ -n "$fds" ] || return
	calls=$(sed "1,\\|<$(uverbs_of ofx)>|d" "$log.strace")
	grep -q "<$(uverbs_of ofx)>" <<<"$calls" || { echo "the lower device was never used"; return 1; }
	! grep -E "[^0-9](${fds//$'\n'/|})<" <<<"$calls" | grep -v " close(" || return
	return $status
}

# A facade has no counters of packets; each packet and each post that hroce sees leaves a trace.
traced() { grep -vc '^#' $tracing/trace; }

no_packet_passes_hroce() {
	tracing=/sys/kernel/tracing
	[ -e $tracing/trace ] || mount -t tracefs tracefs $tracing || return
	echo >$tracing/trace && echo 1 >$tracing/events/hroce/enable || return
	pingpong rc ofl 10.96.0.1 ofl 10.96.0.1 -e || return
	[ "$(traced)" = 0 ] || { head -n 40 $tracing/trace; return 1; }
	pingpong rc ofl 10.96.0.1 ofp 10.96.0.2 -e && [ "$(traced)" -gt 40 ] || return
	echo 0 >$tracing/events/hroce/enable
}

# usage: uverbs_of LINK: its node
uverbs_of() {
	local it

	for it in /sys/class/infiniband_verbs/uverbs*; do
		[ "$(cat "$it/ibdev")" != "$1" ] || echo "/dev/infiniband/${it##*/}"
	done
}

node_unreadable() {
	local node status=0

	node=$(uverbs_of ofx)
	chmod 600 "$node" && chmod 666 "$(uverbs_of ofl)"
	# shellcheck disable=SC2024
	! setpriv --reuid 65534 --clear-groups "$programs/opened" ofl name 2>"$log" || { echo "opened"; status=1; }
	chmod 666 "$node"
	cat "$log"
	grep -q "libhroce: ofl stands for ofx (port 1), but $node cannot be opened: Permission denied" "$log" || status=1
	return $status
}

# What is to be run on real hardware runs on the stand-in as well.
check_hw() {
	DRY_RUN=1 offload/hw.sh ia 10.96.0.2 | grep -c "^here: .*ib" | grep -qx 9 || return
	COUNT=20 REMOTE="ip netns exec $nsB bash -c" offload/hw.sh ia 10.96.0.2
}

run_open() {
	becomes hardware >/dev/null
	tap_case offload.contexts_threads_fork timeout 60 "$programs/opened" ofl many
	tap_case offload.node_unreadable node_unreadable
}

run_use() {
	becomes hardware >/dev/null
	tap_case offload.resources_are_the_hardwares resources_are_the_hardwares
	tap_case offload.srq_pingpong pingpong srq ofp 10.96.0.2 ofl 10.96.0.1
	tap_case offload.no_packet_passes_hroce no_packet_passes_hroce
	tap_case offload.rc_pingpong_with_itself pingpong rc ofl 10.96.0.1 ofl 10.96.0.1
	tap_case offload.ib_read_lat perftest ib_read_lat ofl 10.96.0.1 ofp 10.96.0.2
	export HROCE_DEV=ofl HROCE_DEV2=ofp HROCE_NS='' HROCE_NS2=$nsB from=ofl to=ofp
	tap_case offload.all_operations_every_byte traffic -n 100
	tap_case offload.datagrams_every_byte traffic -t ud -n 50
	unset from to HROCE_DEV HROCE_DEV2
}

run_hw() { tap_case offload.check_hw check_hw; }

# What the link costs after it has been opened: nothing.

# usage: instructions DEVICE FUNCTION
instructions() {
	LD_BIND_NOW=1 valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect="$2" \
		"$programs/cost" "$1" 10.96.0.1 2>&1 | sed -n 's/.*Collected : //p'
}

same_instructions() {
	local direct through

	direct=$(instructions ofx "$1")
	through=$(instructions ofl "$1")
	echo "# $1: $direct instructions on the hardware's device, $through on the link" >>"$log.cost"
	tail -n 1 "$log.cost"
	[ -n "$direct" ] && [ "$direct" -gt 1000 ] && [ "$direct" = "$through" ]
}

# Alternately, the fastest of each, as other work of the machine only adds.
cost_ratio() {
	local i ns direct through

	for i in 1 2 3 4 5; do
		ns=$("$programs/cost" ofx 10.96.0.1) && direct=$((ns < ${direct:-ns + 1} ? ns : direct)) &&
			ns=$("$programs/cost" ofl 10.96.0.1) && through=$((ns < ${through:-ns + 1} ? ns : through)) || return
	done
	echo "# post and poll: $direct ns on the hardware's device, $through ns on the link, ratio" \
		"$(awk "BEGIN { printf \"%.3f\", $through / $direct }")" >>"$log.cost"
}

run_cost() {
	becomes hardware >/dev/null
	: >"$log.cost"
	tap_case offload.post_has_the_same_instructions same_instructions measured_post
	tap_case offload.poll_has_the_same_instructions same_instructions measured_poll
	tap_case offload.cost_measured cost_ratio
	cat "$log.cost"
}

# rdma_cm finds the hardware by its address, whatever was there first.
cm_listens() { rdma resource show cm_id | grep -q "LISTEN.*:$1 "; }

rping_uses_hardware() {
	local pid status=0

	timeout 60 rping -s -a 10.96.0.1 -p 7191 -V -C 10 &
	pid=$!
	wait_for 15 cm_listens 7191 || status=1
	[ $status != 0 ] || at ofp rping -c -a 10.96.0.1 -p 7191 -V -C 10 || status=$?
	[ $status = 0 ] || kill $pid 2>/dev/null
	wait $pid
	[ $status = 0 ] || return
	! rdma resource show cm_id | grep ofl
}

cm_link_first() {
	hardware_goes && becomes software && hardware_comes && becomes hardware && rping_uses_hardware
}

cm_hardware_first() {
	rdma link del ofl && rdma link add ofl type hroce netdev ia && becomes hardware && rping_uses_hardware
}

cm_software() {
	hardware_goes && becomes software && rping_uses_software && hardware_comes && becomes hardware
}

rping_uses_software() {
	local before

	before=$(counter ofl rx_packets)
	rping_uses_hardware
	[ "$(counter ofl rx_packets)" -gt "$before" ]
}

run_cm() {
	tap_case offload.rdma_cm_after_a_flip cm_link_first
	tap_case offload.rdma_cm_hardware_first cm_hardware_first
	tap_case offload.rdma_cm_software cm_software
}

# The reference client goes on through 50 flips.

# usage: carry_begin PORT: from the link to the peer; sets server and client
carry_begin() {
	rm -f "$log.progress"
	ip netns exec "$nsB" "$programs/carry" -S "$1" ofp 10.96.0.2 &
	server=$!
	wait_for 10 bash -c "ip netns exec $nsB ss -ltn | grep -q ':$1 '" || return
	"$programs/carry" -C "10.96.0.2:$1" -p "$log.progress" ofl 10.96.0.1 &
	client=$!
	carry_on 1
}

carry_end() {
	local status=0

	kill -TERM "$client"
	wait "$client" || { kill "$server"; status=1; }
	wait "$server" || status=1
	return $status
}

carried() { grep -s . "$log.progress" || echo 0; }
carried_more() { [ "$(carried)" -gt "$1" ]; }

# usage: carry_on BLOCKS: wait until so many more have been carried
carry_on() { wait_for 20 carried_more $(($(carried) + $1)); }

# The removal of rdma_rxe's device ends when the client has left.
flip_under_traffic() {
	local pid

	hardware_goes &
	pid=$!
	becomes software && carry_on 50 && wait $pid && hardware_comes && becomes hardware && carry_on 50
}

flips() {
	local i status=0

	carry_begin 18700 || return
	for ((i = 0; i < ${HROCE_FLIPS:-25} && status == 0; i++)); do
		flip_under_traffic || status=1
	done
	carry_end || status=1
	echo "$i times there and back, flips: $(cat $sysfs/flips)"
	return $status
}

run_flips() {
	becomes hardware >/dev/null
	tap_case offload.client_outlives_flips flips
}

# The link, and the module, go while a program uses the hardware: that carries on.
unload() {
	carry_begin 18701 && rdma link del ofl && carry_on 100 && carry_end || return
	rmmod hroce && [ ! -e /sys/class/infiniband/ofp ] && modprobe hroce offload_drivers=rxe &&
		rdma link add ofl type hroce netdev ia && becomes hardware && rmmod hroce
}

run_unload() {
	tap_case offload.traffic_outlives_the_link unload
}

# RDMA devices that belong to one namespace each. The mode of the system can be changed while there is only one; so this
# comes last.

there() { ip netns exec "$nsB" "$@"; }

# usage: is_there NAME: is the device in the other namespace, and in no other?
is_there() { there rdma dev show "$1" && ! rdma dev show "$1"; }

# usage: mode_there SOFTWARE|HARDWARE
mode_there() { [ "$(there cat $sysfs/mode)" = "$1" ]; }

go_exclusive() {
	rdma link del ofl
	rdma link del ofp
	hardware_goes
	ip netns del "$nsB"
	wait_for 10 rdma system set netns exclusive && modprobe hroce offload_drivers=rxe && new_ns "$nsB" &&
		ip link add ia type veth peer name ic && ip link set ic up && ip link set ia up &&
		ip address add 10.96.0.1/24 dev ia && ip -n "$nsB" link add ib type veth peer name id && address "$nsB" ib 2 96
}

# A link is seen where it was made.
made_there() {
	there rdma link add ofp type hroce netdev ib && links+=(ofp) && is_there ofp && there ibv_devinfo -d ofp &&
		! ibv_devinfo -d ofp
}

moved_there() {
	rdma link add ofl type hroce netdev ia && links+=(ofl) && rdma dev show ofl && rdma dev set ofl netns "$nsB" &&
		is_there ofl || return
	hardware_comes && wait_for 20 mode_there hardware && is_there ofl || return
	hardware_goes && wait_for 20 mode_there software && is_there ofl
}

# Its namespace ends: it is found in the initial one, and stays.
comes_home() {
	ip netns del "$nsB" && becomes software && rdma dev show ofl || return
	hardware_comes && becomes hardware && rdma dev show ofl && hardware_goes && becomes software
}

# It moves to and fro while it flips: no change is missed.
moves_while_flipping() {
	local i

	# A name for the initial namespace.
	new_ns "$nsB" && ip netns attach "$nsA" $$ || return
	for i in 1 2 3 4 5; do
		hardware_comes &
		wait_for 10 rdma dev set ofl netns "$nsB"
		wait $! && wait_for 20 mode_there hardware && is_there ofl || return
		hardware_goes &
		wait_for 10 there rdma dev set ofl netns "$nsA"
		wait $! && becomes software && rdma dev show ofl || return
	done
}

# Its files are there until it is deleted, wherever it has been.
takes_its_files() {
	local files=/sys/kernel/debug/hroce/ofl

	[ -e $files/second ] && rdma link delete ofl && [ ! -e $files ]
}

run_exclusive() {
	tap_case offload.exclusive go_exclusive
	tap_case offload.link_is_where_it_was_made made_there
	tap_case offload.flips_stay_in_their_namespace moved_there
	tap_case offload.outlives_its_namespace comes_home
	tap_case offload.moves_while_flipping moves_while_flipping
	tap_case offload.takes_its_files takes_its_files
}

status=0
tap_case offload.setup setup
# shellcheck disable=SC2154
[ "$tap_failures" = 0 ] || { tap_done; exit 1; }
# Parts other than the first find hardware below the link.
[[ $parts = detect* ]] || { admit rxe; hardware_comes; becomes hardware; }
for part in $parts; do
	"run_$part"
done
tap_done || status=1
exit $status
