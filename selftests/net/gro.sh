#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Single packets become super-packets on receipt (kernel/net/gro.c). A router cuts frames and collects single packets for
# a tenth of a second, so they arrive in bursts. B forwards to C what is not its own.
#
#	namespace A           namespace R               namespace B              namespace C
#	nla on ea <-- veth --> ra, router, rb <-- veth --> nlb on eb, ec <-- veth --> cb

. "$(dirname "$0")/lib.sh"

nsR=neR-$id
nsC=neC-$id

# usage: join NAMESPACE NETDEV NUMBER NAMESPACE NETDEV NUMBER NET
join() {
	ip link add "$2" netns "$1" mtu 4200 type veth peer name "$5" netns "$4" mtu 4200 &&
		address "$1" "$2" "$3" "$7" && address "$4" "$5" "$6" "$7"
}

# usage: default_by NAMESPACE NUMBER NET: the router
default_by() {
	ip -n "$1" route add default via "10.$3.0.$2" && ip -n "$1" -6 route add default via "fd$3::$2"
}

# usage: forwarding NAMESPACE
forwarding() {
	ip netns exec "$1" sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
}

single() {
	ip netns exec "$nsR" ethtool -K rb tso off tx-udp-segmentation off &&
		ip netns exec "$nsB" ethtool -K eb gro on
}

# usage: collect [MILLISECONDS]
collect() {
	tc -n "$nsR" qdisc replace dev rb root netem ${1:+slot "$1ms" "$1ms"}
}

setup() {
	local link

	for ns in "$nsA" "$nsR" "$nsB" "$nsC"; do new_ns "$ns" || return; done
	forwarding "$nsR" && forwarding "$nsB" || return
	join "$nsA" ea 1 "$nsR" ra 9 90 && join "$nsR" rb 9 "$nsB" eb 2 91 && join "$nsB" ec 9 "$nsC" cb 3 92 || return
	default_by "$nsA" 9 90 && default_by "$nsB" 9 91 && default_by "$nsC" 9 92 || return
	ip -n "$nsR" route add 10.92.0.0/24 via 10.91.0.2 && ip -n "$nsR" -6 route add fd92::/64 via fd91::2 || return
	single && reaches "$nsA" 10.91.0.2 fd91::2 10.92.0.3 fd92::3 || return
	add_link "$nsA" nla ea && add_link "$nsB" nlb eb || return
	for link in nla nlb; do knob $link elide_icrc N || return; done
}

remember() { packets=$(counter nlb rx_packets) frames=$(counter nlb rx_frames); }
received() {
	packets=$(($(counter nlb rx_packets) - packets)) frames=$(($(counter nlb rx_frames) - frames))
	echo "$packets packets in $frames frames"
}

# usage: merged COMMAND...: most packets arrive in frames of several
merged() {
	remember && "$@" && received && [ "$packets" -gt 100 ] && [ $((frames * 2)) -lt "$packets" ]
}

# usage: not_merged COMMAND...
not_merged() {
	remember && "$@" && received && [ "$packets" -gt 100 ] && [ "$frames" = "$packets" ]
}

# Large messages, verified; the router cuts them.
big() { traffic -n 100 -x 1000000; }
big6() { HROCE_FAMILY=6 big; }

off() {
	knob nlb gro N && not_merged big && knob nlb gro Y && merged big
}

rules() {
	ip netns exec "$nsB" nft -f - <<-NFT
	table inet t {
		counter seen { }
		chain c {
			type filter hook input priority 0; policy accept;
			udp dport 4791 counter name seen accept
		}
	}
	NFT
}

# Rules at INPUT get single packets, as they would without a link, and all of them arrive.
ruled() {
	local status=0

	rules && not_merged big && not_merged big6 || status=1
	ip netns exec "$nsB" nft flush ruleset
	return $status
}

# Rules come and go while frames are merged: a connection survives it.
rules_come() {
	local _

	for _ in {1..20}; do
		rules && sleep 0.05 && ip netns exec "$nsB" nft flush ruleset && sleep 0.05 || return
	done
}
rules_come_and_go() {
	vt_options='-x 1000000' under_traffic rules_come && [ "$traffic_status" = 0 ]
}

# What is for C is not merged on its way, though B has a link on that netdev.
forwarded() {
	local seen

	ip netns exec "$nsB" nft -f - <<-NFT
	table inet t {
		counter seen { }
		chain c {
			type filter hook forward priority 0; policy accept;
			udp dport 4791 counter name seen accept
		}
	}
	NFT
	collect 100 && ip netns exec "$nsA" python3 - <<-PYTHON || return
	import socket
	out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	out.bind(("10.90.0.1", 50000))
	for i in range(20):
	    out.sendto(bytes([7, 0, 255, 255, 0, 0, 0, 9, 0, 0, 0, i]) + bytes(1000), ("10.92.0.3", 4791))
	PYTHON
	sleep 0.5
	collect
	seen=$(ip netns exec "$nsB" nft list counter inet t seen | sed -n 's/.*packets \([0-9]*\) .*/\1/p')
	ip netns exec "$nsB" nft flush ruleset
	echo "$seen of 20 packets seen on their way"
	[ "$seen" = 20 ]
}

# A link on a VLAN: its packets are merged on the netdev below.
vlan() {
	local status=0

	ip -n "$nsR" link add link rb name rb5 type vlan id 5 && ip -n "$nsB" link add link eb name eb5 type vlan id 5 &&
		address "$nsR" rb5 9 95 && address "$nsB" eb5 2 95 &&
		ip -n "$nsB" route add 10.90.0.0/24 via 10.95.0.9 && reaches "$nsA" 10.95.0.2 || return
	add_link "$nsB" nlv eb5 && knob nlv elide_icrc N || return
	packets=$(counter nlv rx_packets) frames=$(counter nlv rx_frames)
	to=nlv HROCE_FAMILY=4 big || status=1
	packets=$(($(counter nlv rx_packets) - packets)) frames=$(($(counter nlv rx_frames) - frames))
	echo "$packets packets in $frames frames"
	rdma link del nlv
	ip -n "$nsB" link del eb5
	[ "$status" = 0 ] && [ $((frames * 2)) -lt "$packets" ]
}

tap_case gro.topology setup
[ "$tap_failures" = 0 ] || { tap_done; exit 1; }
tap_case gro.merged_ipv4 merged big
tap_case gro.merged_ipv6 merged big6
tap_case gro.switch off
tap_case gro.rules ruled
tap_case gro.rules_come_and_go rules_come_and_go
tap_case gro.forwarded forwarded
tap_case gro.vlan vlan
router=$(ip -n "$nsR" -br link show ra | awk '{ print $3 }')
collect 100
tap_stream '' net/gro.py "$nsA" "$nsB" "$router" 4
tap_stream '' net/gro.py "$nsA" "$nsB" "$router" 6
tap_done
