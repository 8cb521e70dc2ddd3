#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Pause frames of a netdev with priority-based flow control: in the counters of the links on it, and in what queue
# pairs wait for. The netdev is a test module; how many frames it counts, and which priorities are paused, is set by
# parameters.
#
#	namespace A: nla on pfca <----- what pfca sends, pfcb receives -----> namespace B: nlb on pfcb

. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/lib/programs.sh
. lib/programs.sh

params=/sys/module/hroce_pfc/parameters

# usage: counts LINK NAME VALUE
counts() { [ "$(counter "$1" "$2")" = "$3" ] || { counter "$1" "$2"; return 1; }; }

# usage: count RCVD SENT: of priorities 0 to 7, separated by commas
count() { echo "$1" >$params/rcvd && echo "$2" >$params/sent; }

netdev() {
	insmod "$(dirname "${VM_KO:?}")/selftests/pfc/hroce_pfc.ko" && ip link add pfc0 type hroce_pfc && ip link set pfc0 up &&
		ip address add 10.93.0.1/24 dev pfc0 && rdma link add nlp type hroce netdev pfc0
}

shown() {
	count 0,0,0,7,0,0,0,1 5,0,0,2,0,0,0,0 && counts nlp rx_prio3_pause 7 && counts nlp rx_prio7_pause 1 &&
		counts nlp rx_prio0_pause 0 && counts nlp tx_prio0_pause 5 && counts nlp tx_prio3_pause 2 &&
		rdma -j statistic show link nlp/1 | grep -q '"rnr_rcvd":0' &&
		count 0,0,0,8,0,0,0,1 5,0,0,2,0,0,0,0 && sleep 0.1 && counts nlp rx_prio3_pause 8
}

# A VLAN has no counts of its own, and neither has a bond: those of its members are added.
below() {
	count 0,0,0,10 0,0,4 && ip link add link pfc0 name pfc0.5 type vlan id 5 && ip link set pfc0.5 up &&
		rdma link add nlv type hroce netdev pfc0.5 && counts nlv rx_prio3_pause 10 && counts nlv tx_prio2_pause 4 &&
		rdma link delete nlv && ip link delete pfc0.5
}
members() {
	count 0,0,0,10 0,0,4 && ip link add bondp type bond mode active-backup && ip link add pfc1 type hroce_pfc &&
		ip link add pfc2 type hroce_pfc && ip link set pfc1 master bondp && ip link set pfc2 master bondp &&
		ip link set bondp up && rdma link add nlb type hroce netdev bondp && counts nlb rx_prio3_pause 20 &&
		counts nlb tx_prio2_pause 8 && ip link set pfc2 nomaster && sleep 0.1 && counts nlb rx_prio3_pause 10 &&
		rdma link delete nlb && ip link delete bondp
}

# Queue pairs have no priority in hardware that counts for them alone.
not_of_queue_pairs() {
	rdma statistic qp set link nlp/1 auto type on && ! rdma statistic qp show link nlp/1 | grep -q _pause &&
		rdma statistic qp set link nlp/1 auto off
}

without() {
	ip link add vp0 type veth peer name vp1 && ip link set vp0 up && rdma link add nln type hroce netdev vp0 &&
		[ -e /sys/class/infiniband/nln/ports/1/hw_counters/rnr_sent ] &&
		! [ -e /sys/class/infiniband/nln/ports/1/hw_counters/rx_prio3_pause ] && rdma link delete nln &&
		ip link delete vp0
}

# The netdev goes while somebody reads.
removed() {
	local reader

	while :; do cat /sys/class/infiniband/nlp/ports/1/hw_counters/rx_prio3_pause; done >/dev/null 2>&1 &
	reader=$!
	sleep 0.5
	ip link delete pfc0 && wait_for 20 gone nlp
	local status=$?
	kill $reader
	return $status
}
gone() { ! [ -e "/sys/class/infiniband/$1" ]; }

# usage: at_cable NAMESPACE NETDEV LINK NUMBER: a link on it, and one on a VLAN whose map is not the identity
at_cable() {
	ip link add "$2" netns "$1" type hroce_pfc && address "$1" "$2" "$4" &&
		ip -n "$1" link add link "$2" name "$2.7" type vlan id 7 egress-qos-map 0:0 2:3 3:5 &&
		address "$1" "$2.7" "$4" 91 && add_link "$1" "nl$3" "$2" && add_link "$1" "nlv$3" "$2.7"
}
cable() {
	count 0 0 && new_ns "$nsA" && new_ns "$nsB" && at_cable "$nsA" pfca a 1 && at_cable "$nsB" pfcb b 2 &&
		reaches "$nsA" 10.90.0.2 10.91.0.2
}

# usage: trust [DSCP:PRIORITY...]: the class of frames is found by these DSCPs, or without any by the VLAN tag
trust() {
	ip netns exec "$nsA" dcb app flush dev pfca dscp-prio && [ $# = 0 ] ||
		ip netns exec "$nsA" dcb app add dev pfca dscp-prio "$@"
}

# usage: pause PRIORITY...: these and no others
pause() {
	local mask=0 it

	for it; do mask=$((mask | 1 << it)); done
	echo $mask >$params/paused
}

# usage: flows NET PORT OPTIONS...: a stream of WRITEs from A to B, by VLAN if NET is 91, until flows_end
flowing=()
flows() {
	local v='' common=(ib_write_bw -F -s 65536 -D 100 -u 20 -p "$2") a b

	[ "$1" = 90 ] || v=v
	a=$(gid_index nl${v}a "$(printf '0000:0000:0000:0000:0000:ffff:0a%02x:0001' "$1")") &&
		b=$(gid_index nl${v}b "$(printf '0000:0000:0000:0000:0000:ffff:0a%02x:0002' "$1")") || return
	ip netns exec "$nsB" nice -n 19 "${common[@]}" -d nl${v}b -x "$b" "${@:3}" >"/tmp/flow-$id-$2" 2>&1 &
	flowing+=($!)
	ip netns exec "$nsB" lib/listens 20 "$2" || { cat "/tmp/flow-$id-$2"; return 1; }
	ip netns exec "$nsA" nice -n 19 "${common[@]}" -d nl${v}a -x "$a" "${@:3}" "10.$1.0.2" >"/tmp/flow-$id" 2>&1 &
	flowing+=($!)
}
flows_end() {
	kill "${flowing[@]}"
	wait "${flowing[@]}" 2>/dev/null
	flowing=()
}

# usage: shows PATTERN: of the queue pairs of nla and nlva that send
shows() {
	local line sending="link nlv?a/1 .* type RC state RTS .*$1 "

	while read -r line; do
		[[ ! $line =~ $sending ]] || return 0
	done < <(rdma -dd resource show qp)
	return 1
}

# usage: never PATTERN: not seen by any of so many looks
never() {
	local i

	for i in {1..10}; do
		! shows "$1" || { echo "look $i shows $1"; return 1; }
		sleep 0.05
	done
}

link_qps() { rdma resource show qp link nla | sed -n 's/.* lqpn \([0-9]*\) .*type RC .*/\1/p'; }
has_qps() { [ "$(link_qps | wc -l)" = "$1" ]; }

# All are of the netdev alone, however many counters queue pairs have: none is read beyond their end. The programs wait
# for peers, with a queue pair each.
beside_counters() {
	local dir=/sys/class/infiniband/nla/ports/1/hw_counters port qpn shown status=1

	for port in {18800..18819}; do
		ip netns exec "$nsA" ibv_rc_pingpong -d nla -g 1 -p "$port" >/dev/null 2>&1 &
		flowing+=($!)
	done
	count 0,0,0,7,0,0,0,1 5,0,0,0,0,0,0,2 && wait_for 60 has_qps 20 && status=0
	for qpn in $(link_qps); do rdma statistic qp bind link nla/1 lqpn "$qpn" || status=1; done
	sleep 0.1
	shown=$(cat $dir/{rx,tx}_prio{0..7}_pause | tr '\n' ' ')
	flows_end
	echo "$shown"
	[ "$status$shown" = '00 0 0 7 0 0 0 1 5 0 0 0 0 0 0 2 ' ]
}

# usage: pauses_are_told NET PRIORITY OTHER OPTIONS...: a stream with these options is paused if PRIORITY is. A stream
# of priority 0 goes on, and no other priority has to do with either
pauses_are_told() {
	local net=$1 priority=$2 other=$3 class="drv_pause_priority $2" packets status=1

	shift 3
	flows "$net" 18600 "$@" && flows "$net" 18700 && wait_for 20 shows "$class .* drv_rtt_us [1-9][0-9]*" &&
		wait_for 20 shows "drv_pause_priority 0 .* drv_rtt_us [1-9][0-9]*" &&
		pause "$other" && sleep 0.2 && never 'drv_waits_for paused' &&
		pause "$priority" && wait_for 20 shows "$class .* drv_waits_for paused" &&
		never 'drv_pause_priority 0 .* drv_waits_for paused' && packets=$(sent) && sleep 1 &&
		wait_for 20 shows "$class .* drv_waits_for paused" && wait_for 20 have_left $((packets + 100)) &&
		pause && wait_for 20 moves "$class" && sleep 0.1 && never 'drv_waits_for paused' && status=0
	pause
	[ $status = 0 ] || { rdma -dd resource show qp; cat "/tmp/flow-$id"; }
	flows_end
	return $status
}

# Packets of A, by both links.
sent() { echo $(($(counter nla tx_packets) + $(counter nlva tx_packets))); }
have_left() { [ "$(sent)" -ge "$1" ]; }

# usage: moves CLASS: its stream is answered
moves() { shows "$1 .* drv_waits_for (answer|window|nothing)"; }

# The three ways to find a class. In the last one the tag, which a switch would go by, is not looked at.
by_dscp() { trust 26:3 10:5 && pauses_are_told 90 3 5 --tclass 104; }
by_tag() { trust && pauses_are_told 91 3 5 --sl 3 --tclass 104; }
by_dscp_not_tag() { trust 26:4 && pauses_are_told 91 4 3 --sl 3 --tclass 104; }

# Without a tag, and with no DSCP that counts, drivers have no common answer but for priority 0.
by_nothing() {
	local status=1

	trust && flows 90 18600 --sl 3 --tclass 104 && flows 90 18700 &&
		wait_for 20 shows 'drv_sl 3 drv_dscp 26 drv_udp_sport [0-9]*' &&
		wait_for 20 shows 'drv_sl 0 drv_dscp 0 drv_pause_priority 0' && status=0
	[ $status = 0 ] || rdma -dd resource show qp
	flows_end
	return $status
}

# Frames wait in the qdisc of this host, and another class is paused: that is not why.
congested() {
	local status=1

	trust 26:3 && tc -n "$nsA" qdisc add dev pfca root tbf rate 20mbit burst 20000 limit 10000000 &&
		flows 90 18600 --tclass 104 && pause 5 &&
		wait_for 20 shows 'drv_pause_priority 3 .* drv_waits_for (window|room|rate)' && never 'drv_waits_for paused' &&
		status=0
	[ $status = 0 ] || rdma -dd resource show qp
	pause
	flows_end
	tc -n "$nsA" qdisc del dev pfca root
	return $status
}

# Pauses of long ago are not those of now, nor is what one look alone finds.
one_look() {
	local status=1

	trust 26:3 && flows 90 18600 --tclass 104 && wait_for 20 shows 'drv_pause_priority 3' && sleep 11 && pause 3 &&
		sleep 0.5 && ! shows 'drv_waits_for paused' && sleep 0.2 && shows 'drv_waits_for paused' && status=0
	[ $status = 0 ] || rdma -dd resource show qp
	pause
	flows_end
	return $status
}

tap_case netdev netdev
tap_case pause_frames_shown shown
tap_case vlan_has_those_below below
tap_case bond_has_those_of_members members
tap_case not_of_queue_pairs not_of_queue_pairs
tap_case none_without_pfc without
tap_case netdev_goes_while_read removed
tap_case cable cable
tap_case beside_counters beside_counters
tap_case paused_by_dscp by_dscp
tap_case paused_by_tag by_tag
tap_case paused_by_dscp_not_tag by_dscp_not_tag
tap_case paused_by_nothing_known by_nothing
tap_case congested_not_paused congested
tap_case paused_at_the_second_look one_look
cleanup
tap_case module_can_be_removed rmmod hroce_pfc
tap_done
