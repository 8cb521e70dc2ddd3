#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Links that receive by an XDP program (Documentation/cards.rst): what it takes, what it leaves, and how it goes. Between
# two virtio cards, each packet is a frame of its own; then over a veth pair, whose frames may have no ICRC.
#
# usage: xdp.sh [brief]: brief leaves out cases that take the same paths as others
#
# Must run in a guest without links of its own (run --no-load): the module is loaded and unloaded here.

part=${1:-all}
. "$(dirname "$0")/lib.sh"

switches() {
	[ "$(xdp "$nsB" nlb)" = off ] && leaves traffic -n 30 || return
	[ "$(xdp "$nsA" nla on)" = on ] && [ "$(xdp "$nsB" nlb on)" = on ] && [ "$(xdp "$nsB" nlb)" = on ] || return
	ip -n "$nsB" link show eb | grep -q 'prog/xdp.*name hroce_xdp'
}

# Frames that are longer than a buffer of the card.
long_frames() {
	local end

	for end in "$nsA ea" "$nsB eb"; do
		# shellcheck disable=SC2086 # two words
		ip -n ${end% *} link set ${end#* } mtu "$1" || return
	done
	sleep 1
	takes traffic -n 20 -x 200000
}

# A tap sees all that it would see without the program.
tap_sees() {
	local pid status=0

	ip netns exec "$nsB" tcpdump -i eb -n -w "/tmp/tap-$id" udp port 4791 2>"/tmp/tap-$id.log" &
	pid=$!
	wait_for 20 grep -q listening "/tmp/tap-$id.log" && leaves traffic -n 30 || status=1
	kill -INT $pid && wait $pid
	cat "/tmp/tap-$id.log"
	[ $status = 0 ] && [ "$(sed -n 's/ packets captured//p' "/tmp/tap-$id.log")" -gt 50 ]
}

# usage: with_rules RULES: nft, in B; a counter must have seen packets
with_rules() {
	ip netns exec "$nsB" nft "$1" || return
	leaves traffic -n 20 || return
	ip netns exec "$nsB" nft list ruleset | grep -q 'packets [1-9]' &&
		ip netns exec "$nsB" nft flush ruleset
}

with_tc() {
	tc -n "$nsB" qdisc add dev eb clsact || return
	tc -n "$nsB" filter add dev eb ingress matchall action pass || return
	leaves traffic -n 20 && tc -n "$nsB" -s filter show dev eb ingress | grep -q 'Sent [1-9]' &&
		tc -n "$nsB" qdisc del dev eb clsact
}

# usage: survives COUNTER NETEM...: data is right, and nlb's counter shows that it was needed; the few hundred frames of one
# turn may all be spared
survives() {
	local before status=0 turn

	before=$(counter nlb "$1")
	knob nla gso N && tc -n "$nsA" qdisc add dev ea root netem limit 10000 "${@:2}" || return
	for turn in 14 15 16 17; do
		takes traffic -n 60 -x 60000 -e "$turn" || status=1
		[ $status = 0 ] && [ "$(counter nlb "$1")" = "$before" ] || break
	done
	tc -n "$nsA" qdisc del dev ea root && knob nla gso Y || return
	echo "$1: $(($(counter nlb "$1") - before))"
	[ $status = 0 ] && [ "$(counter nlb "$1")" -gt "$before" ]
}

others_stay() {
	xdp "$nsB" nlb off && ip netns exec "$nsB" net/xdp_other.py eb on || return
	! xdp "$nsB" nlb on && ip -n "$nsB" link show eb | grep -q 'name other' || return
	! xdp "$nsB" nlb off && ip -n "$nsB" link show eb | grep -q 'name other' || return
	leaves traffic -n 20 && ip netns exec "$nsB" net/xdp_other.py eb off && xdp "$nsB" nlb on
}

# A generic program has a copy made of frames within a host.
generic_within_a_host() {
	local to=nla

	knob nla local N && xdp "$nsA" nla off && ip netns exec "$nsA" net/xdp_other.py ea generic || return
	traffic -n 50 && traffic -t ud -n 30 && ip -n "$nsA" link set dev ea xdpgeneric off && traffic -n 50 &&
		knob nla local Y && xdp "$nsA" nla on
}

# The program stays, has no link to give frames to, and goes on when there is one.
link_comes_back() {
	rdma link del nlb && reaches "$nsA" 10.90.0.2 fd90::2 && HROCE_XDP='' add_link "$nsB" nlb eb &&
		takes traffic -n 30
}

polls() {
	local before status=0

	before=$(counter nlb busy_polls)
	knob nla busy_poll Y && knob nlb busy_poll Y || return
	takes traffic -n 30 || status=1
	knob nla busy_poll N && knob nlb busy_poll N
	echo "busy_polls: $(($(counter nlb busy_polls) - before))"
	[ $status = 0 ] && [ "$(counter nlb busy_polls)" -gt "$before" ]
}

# The program holds the module; without it, nothing does.
holds_module() {
	rdma link del nla && rdma link del nlb && ! rmmod hroce && modprobe -n hroce || return
	HROCE_XDP='' add_link "$nsA" nla ea && HROCE_XDP='' add_link "$nsB" nlb eb || return
	xdp "$nsA" nla off && xdp "$nsB" nlb off
}

# usage: lost_under_traffic COMMAND...
lost_under_traffic() {
	xdp_on "$nsA" nla ea && xdp_on "$nsB" nlb eb || return
	under_traffic "$@" && [[ $traffic_status = [25] ]]
}

unloads() {
	local netdev

	cleanup
	# Cards have come back, with their programs. Their names are wanted.
	for netdev in ea eb; do
		[ ! -e /sys/class/net/$netdev ] || { ip link set $netdev xdp off && ip link set $netdev down &&
			ip link set $netdev name "card-$netdev"; } || return
	done
	wait_for 20 gone nla && wait_for 20 gone nlb && wait_for 20 rmmod hroce && modprobe hroce
}
gone() { [ ! -e "/sys/class/infiniband/$1" ]; }

# A veth pair takes VLAN tags off unless it is told not to, and frames within the host carry no ICRC.
veth_hides_vlans() {
	! xdp "$nsB" nlb on && xdp "$nsB" nlb on 2>&1 | grep -q 'ethtool -K eb rx-vlan-offload off rx-vlan-stag-hw-parse off'
}
veth_frames() {
	xdp_on "$nsA" nla ea && xdp_on "$nsB" nlb eb && traffic -n 30 -x 200000 && HROCE_FAMILY=6 traffic -n 20
}
veth_frames_with_icrc() {
	knob nla elide_icrc N && knob nlb elide_icrc N && takes traffic -n 30 -x 200000
}

modprobe -a rdma_ucm ib_uverbs hroce || { tap_case xdp.load false; tap_done; exit 1; }
way=cards
two_ends || { tap_case xdp.topology false; tap_done; exit 1; }
tap_case xdp.switches switches
tap_case xdp.rc takes traffic -n 50 -x 100000
tap_case xdp.long_frames long_frames 9000
tap_case xdp.tap_sees tap_sees
tap_case xdp.ingress_rules with_rules 'table netdev t { chain c { type filter hook ingress device eb priority 0; counter; }; }'
tap_case xdp.corruption survives rx_drop_icrc corrupt 4%
tap_case xdp.others_stay others_stay
tap_case xdp.generic_within_a_host generic_within_a_host
if [ "$part" != brief ]; then
	HROCE_FAMILY=6 tap_case xdp.rc_ipv6 takes traffic -n 30
	tap_case xdp.uc takes traffic -t uc -n 30
	tap_case xdp.ud takes traffic -t ud -n 60
	tap_case xdp.short_frames long_frames 1500
	tap_case xdp.input_rules with_rules 'table inet t { chain c { type filter hook input priority 0; counter; }; }'
	tap_case xdp.traffic_control with_tc
	tap_case xdp.loss survives nak_seq_sent loss 4%
	tap_case xdp.busy_polling polls
	tap_case xdp.link_comes_back link_comes_back
fi
tap_case xdp.holds_module holds_module
tap_case xdp.link_is_deleted lost_under_traffic rdma link del nla
tap_case xdp.unloads unloads
way=veth
two_ends || { tap_case xdp.topology false; tap_done; exit 1; }
tap_case xdp.veth_hides_vlans veth_hides_vlans
tap_case xdp.veth_frames veth_frames
if [ "$part" != brief ]; then
	tap_case xdp.veth_frames_with_icrc veth_frames_with_icrc
	tap_case xdp.netdev_is_deleted lost_under_traffic ip -n "$nsA" link del ea
fi
tap_case xdp.unloads_again unloads
tap_done
