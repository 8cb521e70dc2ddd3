#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Longer packets than the path MTU, agreed between two links.

. "$(dirname "$0")/lib.sh"

# usage: agreed LINK: how many requesters have agreed on longer packets
agreed() { counter "$1" mtu_agreed; }

# usage: has_longer LINK PATH_MTU: are its packets longer than that, on average?
has_longer() {
	local bytes packets

	bytes=$(counter "$1" tx_bytes) packets=$(counter "$1" tx_packets)
	echo "$1: $bytes bytes in $packets packets; asked $(counter "$1" mtu_asked), agreed $(agreed "$1")"
	[ "$bytes" -gt $((packets * $2)) ]
}

# usage: agrees OPTION...
agrees() { traffic -x 262144 -n 400 "$@" && [ "$(agreed nla)" -gt 0 ] && [ "$(agreed nlb)" -gt 0 ]; }

# usage: takes_longer PATH_MTU
takes_longer() { agrees && has_longer nla "$1" && has_longer nlb "$1"; }

# usage: takes_none PATH_MTU OPTION...: nothing is agreed on, and all works
takes_none() {
	traffic -x 262144 -n 100 "${@:2}" && expect 1 has_longer nla "$1" && expect 1 has_longer nlb "$1" &&
		[ "$(agreed nla)$(agreed nlb)" = 00 ]
}

# Has a loss come in the middle of a request, and of an answer?
keeps() {
	echo "kept $(counter nla kept) and $(counter nlb kept), answers $(counter nla answers_kept)"
	[ "$(counter nla kept)" -gt 0 ] && [ "$(counter nla answers_kept)" -gt 0 ]
}

lossy() {
	tc -n "$nsA" qdisc replace dev ea root netem loss 2% && tc -n "$nsB" qdisc replace dev eb root netem loss 2% &&
		ip netns exec "$nsA" ethtool -K ea tx-udp-segmentation off &&
		ip netns exec "$nsB" ethtool -K eb tx-udp-segmentation off || return
	agrees -e 13 || return
	for _ in 1 2 3 4 5; do
		keeps && break
		traffic -x 262144 -n 400 -e 13 || return
	done
	keeps && [ "$(cat /sys/kernel/debug/hroce/nla/kept_bytes)" = 0 ]
}

# The peer drops the question, and is not asked more than three times.
off_at_one_end() {
	local asked

	knob nla agree_mtu N && takes_none 1024 || return
	asked=$(counter nlb mtu_asked)
	[ "$asked" -gt 0 ] && [ "$asked" -le 3 ] && [ "$(counter nla rx_drop_opcode)" = "$asked" ] &&
		[ "$(counter nla mtu_asked)" = 0 ]
}

# The ends could, but what is between them cannot.
narrow_path() {
	in_ns "$near" ip link set trunk mtu 4400 && in_ns "$far" ip link set trunk mtu 4400 && takes_none 4096 &&
		[ "$(counter nla mtu_asked)" -gt 0 ]
}

narrower() {
	ip -n "$nsA" link set ea mtu "$1" && ip -n "$nsB" link set eb mtu "$1"
	sleep 2
}

# usage: narrows MTU: while longer packets are under way
narrows() {
	local made

	vt_options='-x 262144' under_traffic narrower "$1" && [ "$traffic_status" = 0 ] && [ "$(agreed nla)" -gt 0 ] || return
	made=$(ip netns exec "$nsA" nstat -asz IpFragCreates Ip6FragCreates | awk '/Frag/ { n += $2 } END { print n }')
	echo "$made fragments"
	[ "$made" -gt 10 ] && [ "$(counter nla tx_errors)" = 0 ] && traffic -n 100
}

chosen_by_program() { takes_none 512 -m 512 && [ "$(counter nla mtu_asked)$(counter nlb mtu_asked)" = 00 ]; }

# usage: between MTU NAME FUNCTION...: a test with new links on netdevs of this MTU
between() {
	local name=$2

	two_ends "$1" || { tap_case "mtu.$name.topology" false; return; }
	tap_case "mtu.$name" "${@:3}"
	cleanup
}

[ -d /sys/kernel/debug/hroce ] || mount -t debugfs debugfs /sys/kernel/debug
between 1500 of_1500 takes_longer 1024
between 9000 of_9000 takes_longer 4096
between 1460 of_1460 takes_longer 1024
between 4200 none_at_4200 takes_none 4096
between 1500 chosen_by_program chosen_by_program
between 1500 off_at_one_end off_at_one_end
between 1500 loss_1500 lossy
between 9000 loss_9000 lossy
between 1500 narrows_1500 narrows 1400
between 9000 narrows_9000 narrows 5000
HROCE_FAMILY=6 between 1500 narrows_1500_ipv6 narrows 1400
way=wire
between 1500 wire_1500 agrees
between 9000 narrow_path narrow_path
tap_done
