#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Links on VLANs, bonds and bridges whose frames come from an XDP program on the netdev below (Documentation/cards.rst,
# "XDP"): what is taken, and what is not as the stack would not bring it to the link.
#
#	namespace A                      namespace B
#	nla on ea.7      ea <--> eb      nlb on eb.7
#	nla on bda    pa1-3 <--> pb1-3   nlb on bdb
#	nla on bda.8  pa1-3 <--> pb1-3   nlb on bdb.8
#	nla on ea        ea <--> eb      nlb on brb, with port ec, too
#
# usage: xdp_above.sh [brief]: brief leaves out cases that take the same paths as others
#
# Must run in a guest without links of its own (run --no-load).

part=${1:-all}
. "$(dirname "$0")/lib.sh"

# usage: links_on NETDEV NETDEV: in A and B. Frames of a veth pair have no ICRC unless they are told to.
links_on() {
	add_link "$nsA" nla "$1" && add_link "$nsB" nlb "$2" && knob nla elide_icrc N && knob nlb elide_icrc N
}
no_links() { rdma link del nla && rdma link del nlb; }

# usage: has_program NETDEV: in B
has_program() { ip -d -n "$nsB" link show "$1" | grep -q 'prog/xdp.*name hroce_xdp'; }

# usage: unseen FUNCTION FUNCTION: nlb gets nothing behind the first one, and the traffic goes on behind the second
unseen() {
	vt_options='-e 19' under_traffic without rx_frames "$@" && [ "$traffic_status" = 0 ]
}

# usage: untaken FUNCTION FUNCTION: the same, but IP may bring frames: an address is the host's, whatever the netdev
untaken() {
	vt_options='-e 19' under_traffic without rx_xdp "$@" && [ "$traffic_status" = 0 ]
}

# usage: without COUNTER FUNCTION FUNCTION
without() {
	local before after resumed=${resumed:-rx_xdp}

	"$2" || return
	sleep 0.2
	before=$(counter nlb "$1")
	sleep 0.5
	after=$(counter nlb "$1")
	echo "$1 has grown by $((after - before))"
	"$3" && wait_for 20 grows nlb $resumed "$(counter nlb $resumed)" 50 && [ "$before" = "$after" ]
}

# usage: on_the_way NETDEV ACTION...: what A's netdev does to its frames, until off_the_way
on_the_way() {
	tc -n "$nsA" qdisc add dev "$1" clsact && tc -n "$nsA" filter add dev "$1" egress matchall action "${@:2}"
}
off_the_way() { tc -n "$nsA" qdisc del dev "$1" clsact; }

both_families() { takes traffic -n 60 -x 60000 && HROCE_FAMILY=6 takes traffic -n 40; }

# usage: vlan_topology
vlan_topology() {
	two_ends 4200 bare && ip -n "$nsA" link add link ea name ea.7 type vlan id 7 &&
		ip -n "$nsB" link add link eb name eb.7 type vlan id 7 && address "$nsA" ea.7 1 91 &&
		address "$nsB" eb.7 2 91 && reaches "$nsA" 10.91.0.2 fd91::2 && links_on ea.7 eb.7
}

# The command tells which netdev takes tags off.
vlan_switches() {
	! xdp "$nsB" nlb on && xdp "$nsB" nlb on 2>&1 |
		grep -q 'ethtool -K eb rx-vlan-offload off rx-vlan-stag-hw-parse off' || return
	keep_tags "$nsA" ea && keep_tags "$nsB" eb || return
	[ "$(xdp "$nsB" nlb on)" = on ] && has_program eb && xdp "$nsB" nlb --json | grep -q '"netdevs": \["eb"\]'
}

# The tags of veth pairs can be beside frames.
vlan_hidden() {
	ip netns exec "$nsA" ethtool -K ea txvlan on && leaves traffic -n 20 && keep_tags "$nsA" ea
}

# usage: received NETDEV: frames that B's netdev has counted
received() { ip netns exec "$nsB" cat "/sys/class/net/$1/statistics/rx_packets"; }

# usage: counts NETDEV: what is taken counts there, once
counts() {
	local before xdp now

	before=$(received "$1") xdp=$(counter nlb rx_xdp)
	takes traffic -n 30 || return
	now=$(received "$1") xdp=$(($(counter nlb rx_xdp) - xdp))
	echo "$((now - before)) frames, $xdp taken"
	[ $((now - before)) -ge "$xdp" ] && [ $((now - before)) -le $((xdp + xdp / 4 + 20)) ]
}

other_vlan() { on_the_way ea vlan modify id 8; }
no_vlan() { on_the_way ea vlan pop; }
priority_only() { on_the_way ea vlan modify id 0; }
second_tag() { on_the_way ea vlan push id 7; }
other_mac() { on_the_way "${way_netdev:-ea}" skbmod set dmac 02:00:00:00:00:99; }
right_again() { off_the_way "${way_netdev:-ea}"; }

# usage: with_tap NETDEV
with_tap() {
	local pid status=0

	ip netns exec "$nsB" tcpdump -i "$1" -n -w "/tmp/tap-$id" 2>"/tmp/tap-$id.log" &
	pid=$!
	wait_for 20 grep -q listening "/tmp/tap-$id.log" && leaves traffic -n 20 || status=1
	kill -INT $pid && wait $pid
	[ $status = 0 ] && [ "$(sed -n 's/ packets captured//p' "/tmp/tap-$id.log")" -gt 50 ]
}

# usage: with_rules NETDEV
with_rules() {
	ip netns exec "$nsB" nft "table netdev t { chain c { type filter hook ingress device $1 priority 0; counter; }; }" &&
		leaves traffic -n 20 && ip netns exec "$nsB" nft list ruleset | grep -q 'packets [1-9]' &&
		ip netns exec "$nsB" nft flush ruleset
}

# A generic program above sees sk_buffs.
with_generic() {
	ip netns exec "$nsB" net/xdp_other.py "$1" generic && leaves traffic -n 20 &&
		ip -n "$nsB" link set dev "$1" xdpgeneric off && takes traffic -n 20
}

# usage: bond_topology MODE
bond_topology() {
	local i

	new_ns "$nsA" && new_ns "$nsB" && ip -n "$nsA" link add bda type bond mode "$1" miimon 50 &&
		ip -n "$nsB" link add bdb type bond mode "$1" miimon 50 || return
	for i in 1 2; do bond_port $i || return; done
	address "$nsA" bda 1 92 && address "$nsB" bdb 2 92 && reaches "$nsA" 10.92.0.2 fd92::2 && links_on bda bdb
}
bond_port() {
	ip link add "pa$1" netns "$nsA" mtu 4200 type veth peer name "pb$1" netns "$nsB" mtu 4200 &&
		keep_tags "$nsA" "pa$1" && keep_tags "$nsB" "pb$1" &&
		ip -n "$nsA" link set "pa$1" master bda && ip -n "$nsB" link set "pb$1" master bdb
}

bond_switches() {
	ip netns exec "$nsB" ethtool -K pb2 rxvlan on && ! xdp "$nsB" nlb on &&
		xdp "$nsB" nlb on 2>&1 | grep -q 'ethtool -K pb2 rx-vlan-offload off' && keep_tags "$nsB" pb2 || return
	[ "$(xdp "$nsB" nlb on)" = on ] && has_program bdb
}

# usage: active NAMESPACE BOND PORT
active() { ip -n "$1" link set "$2" type bond active_slave "$3"; }
sends_on_1() { active "$nsA" bda pa1; }
sends_on_2() { active "$nsA" bda pa2; }
receives_on_1() { active "$nsB" bdb pb1; }
receives_on_2() { active "$nsB" bdb pb2; }

# Frames come to the port that is inactive, until it is not.
bond_inactive() {
	sends_on_1 && receives_on_1 && unseen sends_on_2 receives_on_2 && takes traffic -n 30 && sends_on_1 &&
		receives_on_1 && takes traffic -n 30
}

# The bond gives its program to ports that come later.
bond_later() {
	bond_port 3 && wait_for 5 active "$nsA" bda pa3 && wait_for 5 active "$nsB" bdb pb3 &&
		reaches "$nsA" 10.92.0.2 && takes traffic -n 30 && sends_on_1 && receives_on_1
}

# The ARP monitor takes any frame for a sign of life.
bond_arp_monitor() {
	ip -n "$nsB" link set bdb type bond miimon 0 arp_interval 100 arp_ip_target 10.92.0.1 && leaves traffic -n 20 &&
		ip -n "$nsB" link set bdb type bond arp_interval 0 miimon 50 && receives_on_1 && takes traffic -n 20
}

bond_vlan() {
	no_links && ip -n "$nsA" link add link bda name bda.8 type vlan id 8 &&
		ip -n "$nsB" link add link bdb name bdb.8 type vlan id 8 && address "$nsA" bda.8 1 98 &&
		address "$nsB" bdb.8 2 98 && reaches "$nsA" 10.98.0.2 fd98::2 && links_on bda.8 bdb.8 &&
		[ "$(xdp "$nsB" nlb)" = on ] && both_families && counts bdb.8
}

bond_off() { [ "$(xdp "$nsB" nlb off)" = off ] && ! has_program bdb && leaves traffic -n 20; }

bond_without_xdp() {
	ip -n "$nsB" link add bdx type bond mode balance-tlb && address "$nsB" bdx 9 93 && add_link "$nsB" nlx bdx || return
	! xdp "$nsB" nlx on && xdp "$nsB" nlx on 2>&1 | grep -q 'a mode of bonds that has no XDP'
}

bridge_topology() {
	two_ends 4200 bare && ip -n "$nsB" address flush dev eb && ip -n "$nsB" link add brb mtu 4200 type bridge &&
		ip -n "$nsB" link add ec mtu 4200 type veth peer name ed && ip -n "$nsB" link set ed up &&
		ip -n "$nsB" link set ec up && ip -n "$nsB" link set eb master brb && ip -n "$nsB" link set ec master brb &&
		address "$nsB" brb 2 && reaches "$nsA" 10.90.0.2 fd90::2 && links_on ea brb && mac=$(mac_of "$nsA" ea)
}
mac_of() { ip netns exec "$1" cat "/sys/class/net/$2/address"; }

# A port that cannot have the program is named, and left out.
bridge_switches() {
	local said

	keep_tags "$nsA" ea && keep_tags "$nsB" eb || return
	said=$(xdp "$nsB" nlb on 2>&1) || return
	echo "$said"
	grep -q 'ethtool -K ec rx-vlan-offload off' <<<"$said" && grep -qx on <<<"$said" && has_program eb &&
		! has_program ec && keep_tags "$nsB" ec && [ "$(xdp "$nsB" nlb on)" = on ] && has_program ec
}

# usage: bridge_cmd ARGUMENTS...: in B
bridge_cmd() { ip netns exec "$nsB" bridge "$@"; }

port_ends() { bridge_cmd link set dev eb state 0; }
port_listens() { bridge_cmd link set dev eb state 1; }
port_learns() { bridge_cmd link set dev eb state 2; }
port_forwards() { bridge_cmd link set dev eb state 3; }
port_locks() { bridge_cmd link set dev eb learning off locked on && bridge_cmd fdb del "$mac" dev eb master; }
port_unlocks() { bridge_cmd link set dev eb learning on locked off; }
filter_vlans() { bridge_cmd vlan del dev eb vid 1 && ip -n "$nsB" link set brb type bridge vlan_filtering 1; }
no_filter() { bridge_cmd vlan add dev eb vid 1 pvid untagged && ip -n "$nsB" link set brb type bridge vlan_filtering 0; }
a_tag() { on_the_way ea vlan push id 8; }

# The bridge sees enough of what is taken to know where the source is.
learns() {
	vt_options='' under_traffic learns_now && [ "$traffic_status" = 0 ]
}
learns_now() {
	local xdp

	xdp=$(counter nlb rx_xdp)
	sleep 4
	bridge_cmd -s -j fdb show br brb | python3 -c "
import json, sys
ages = [entry['updated'] for entry in json.load(sys.stdin) if entry['mac'] == '$mac' and entry['ifname'] == 'eb']
print('seconds since it was learned:', ages)
sys.exit(not ages or min(ages) > 1)" && grows nlb rx_xdp "$xdp" 100
}

bridge_rules() {
	ip netns exec "$nsB" nft 'table bridge t { chain c { type filter hook input priority 0; counter; }; }' &&
		leaves traffic -n 20 && ip netns exec "$nsB" nft list ruleset | grep -q 'packets [1-9]' &&
		ip netns exec "$nsB" nft flush ruleset
}

# The bridge brings frames with tags, and filters those without.
bridge_both() {
	cleanup
	bridge_topology && bridge_switches && no_links &&
		ip -n "$nsA" link add link ea name ea.8 mtu 4200 type vlan id 8 && address "$nsA" ea.8 1 94 &&
		ip -n "$nsB" link set brb type bridge vlan_filtering 1 && bridge_cmd vlan del dev eb vid 1 &&
		bridge_cmd vlan add dev eb vid 8 && bridge_cmd vlan del dev brb vid 1 self &&
		bridge_cmd vlan add dev brb vid 8 self pvid untagged && address "$nsB" brb 2 94 &&
		reaches "$nsA" 10.94.0.2 fd94::2 && links_on ea.8 brb && leaves traffic -n 20 || return
	tc -n "$nsA" qdisc add dev ea.8 clsact &&
		tc -n "$nsA" filter add dev ea.8 egress matchall action mirred egress mirror dev ea && leaves traffic -n 60
}

# Tags are beside the frames that a generic program sees.
generic_receiver() {
	local resumed=rx_frames

	xdp "$nsB" nlb off && ip netns exec "$nsB" net/xdp_other.py brb receiver && unseen a_tag right_again &&
		leaves traffic -n 20 && ip -n "$nsB" link set dev brb xdpgeneric off && xdp "$nsB" nlb on &&
		takes traffic -n 20
}

bridge_off() {
	[ "$(xdp "$nsB" nlb off)" = off ] && ! has_program eb && ! has_program ec && leaves traffic -n 20
}

bridge_vlan() {
	no_links && ip -n "$nsB" link add link brb name brb.8 type vlan id 8 && address "$nsB" brb.8 8 95 &&
		add_link "$nsB" nlb brb.8 || return
	! xdp "$nsB" nlb on && xdp "$nsB" nlb on 2>&1 | grep -q 'brb.8 is a VLAN of a bridge'
}

# usage: more_case NAME COMMAND...: left out in brief
more_case() { [ "$part" = brief ] || tap_case "$@"; }

modprobe -a rdma_ucm ib_uverbs hroce || { tap_case xdp_above.load false; tap_done; exit 1; }
if vlan_topology; then
	tap_case xdp_above.vlan_switches vlan_switches
	tap_case xdp_above.vlan both_families
	tap_case xdp_above.vlan_counts counts eb.7
	tap_case xdp_above.vlan_tags_beside_frames vlan_hidden
	tap_case xdp_above.vlan_other_id unseen other_vlan right_again
	tap_case xdp_above.vlan_no_tag untaken no_vlan right_again
	tap_case xdp_above.vlan_priority_tag untaken priority_only right_again
	tap_case xdp_above.vlan_two_tags unseen second_tag right_again
	tap_case xdp_above.vlan_other_mac unseen other_mac right_again
	tap_case xdp_above.vlan_tap_sees with_tap eb.7
	more_case xdp_above.vlan_tap_below_sees with_tap eb
	tap_case xdp_above.vlan_rules with_rules eb.7
	more_case xdp_above.vlan_rules_below with_rules eb
	tap_case xdp_above.vlan_generic_program with_generic eb.7
else
	tap_case xdp_above.vlan_topology false
fi
cleanup
if bond_topology active-backup; then
	tap_case xdp_above.bond_switches bond_switches
	tap_case xdp_above.bond both_families
	tap_case xdp_above.bond_counts counts bdb
	tap_case xdp_above.bond_inactive bond_inactive
	tap_case xdp_above.bond_later bond_later
	way_netdev=bda more_case xdp_above.bond_other_mac unseen other_mac right_again
	tap_case xdp_above.bond_arp_monitor bond_arp_monitor
	more_case xdp_above.bond_tap_sees with_tap bdb
	more_case xdp_above.bond_rules_below with_rules pb1
	tap_case xdp_above.bond_vlan bond_vlan
	tap_case xdp_above.bond_off bond_off
	tap_case xdp_above.bond_without_xdp bond_without_xdp
else
	tap_case xdp_above.bond_topology false
fi
cleanup
# One frame in some milliseconds is left to the bridge.
share=50
if bridge_topology; then
	tap_case xdp_above.bridge_switches bridge_switches
	tap_case xdp_above.bridge both_families
	tap_case xdp_above.bridge_counts counts brb
	tap_case xdp_above.bridge_learns learns
	more_case xdp_above.bridge_port_disabled unseen port_ends port_forwards
	more_case xdp_above.bridge_port_listens unseen port_listens port_forwards
	tap_case xdp_above.bridge_port_learns unseen port_learns port_forwards
	tap_case xdp_above.bridge_port_locked unseen port_locks port_unlocks
	tap_case xdp_above.bridge_filters_vlans unseen filter_vlans no_filter
	tap_case xdp_above.bridge_other_mac unseen other_mac right_again
	tap_case xdp_above.bridge_tag unseen a_tag right_again
	tap_case xdp_above.bridge_generic_program generic_receiver
	tap_case xdp_above.bridge_rules bridge_rules
	more_case xdp_above.bridge_tap_sees with_tap brb
	more_case xdp_above.bridge_tap_below_sees with_tap eb
	tap_case xdp_above.bridge_off bridge_off
	tap_case xdp_above.bridge_vlan bridge_vlan
	tap_case xdp_above.bridge_tags_and_none bridge_both
else
	tap_case xdp_above.bridge_topology false
fi
cleanup
tap_case xdp_above.unloads rmmod hroce
tap_done
