#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Rules of netfilter decide about frames as they do about those of sockets.
#
#	namespace A: nla on ea <----- veth -----> namespace B: nlb on eb

. "$(dirname "$0")/lib.sh"

# usage: rules NAMESPACE HOOK [RULE]: one chain for both families; RULE is for what links send
rules() {
	ip netns exec "$1" nft -f - <<-NFT
	table inet t {
		counter seen { }
		chain c {
			type filter hook $2 priority 0; policy accept;
			udp dport 4791 counter name seen ${3:-accept}
		}
	}
	NFT
}

no_rules() {
	ip netns exec "$nsA" nft flush ruleset
	ip netns exec "$nsB" nft flush ruleset
}

# usage: seen NAMESPACE: packets that the rule has counted
seen() { ip netns exec "$1" nft list counter inet t seen | sed -n 's/.*packets \([0-9]*\) .*/\1/p'; }

# Traffic that is dropped gives up soon.
refused() { expect 2 traffic -n 20 -e 8 -r 1; }

# usage: drops NAMESPACE HOOK: both families; without the rule all is well again
drops() {
	local family

	for family in 4 6; do
		export HROCE_FAMILY=$family
		rules "$1" "$2" drop && refused && [ "$(seen "$1")" -gt 0 ] && no_rules && traffic -n 50 || return
	done
}

# usage: accepts NAMESPACE HOOK: all kinds of traffic pass the rule
accepts() {
	local family

	rules "$1" "$2" || return
	for family in 4 6; do
		HROCE_FAMILY=$family traffic -n 100 && HROCE_FAMILY=$family traffic -t ud -n 50 || return
	done
	[ "$(seen "$1")" -gt 100 ] && no_rules
}

# For conntrack, frames of one direction never answer those of the other: all are new, and confirmed.
stateful() {
	ip netns exec "$nsB" nft -f - <<-NFT
	table inet t {
		counter seen { }
		chain c {
			type filter hook input priority 0; policy drop;
			meta l4proto icmpv6 accept
			ct state established accept
			udp dport 4791 ct state new counter name seen accept
		}
	}
	NFT
	traffic -n 100 && [ "$(seen "$nsB")" -gt 20 ] && no_rules
}

# usage: within HOOK: packets between queue pairs of one link, which need no frames without the rule
within() {
	local before

	before=$(counter nla tx_local_packets)
	to=nla traffic -n 50 && grows nla tx_local_packets "$before" 50 || return
	before=$(counter nla tx_local_packets)
	rules "$nsA" "$1" && to=nla traffic -n 100 && to=nla HROCE_FAMILY=6 traffic -t ud -n 50 || return
	[ "$(seen "$nsA")" -gt 100 ] && [ "$(counter nla tx_local_packets)" = "$before" ] || return
	no_rules && rules "$nsA" "$1" drop && to=nla refused && no_rules
}

# usage: copies NUMBER: of one datagram to a group, so many reach a member on the sender's link
copies() {
	local answers

	answers=$(printf '%s\n' 'new ud' join 'post 3' 'cast 1' wc wc |
		HROCE_DEV=nla HROCE_DEV2=nla timeout -s KILL 60 "$build/vt_target")
	echo "$answers"
	[ "$(grep -c '^wc' <<<"$answers")" = 2 ] && [ "$(grep -c '^wc 0 140' <<<"$answers")" = "$1" ]
}

# usage: cast HOOK: rules decide about copies of what leaves, too
cast() {
	local HROCE_FAMILY

	for HROCE_FAMILY in 4 6; do
		export HROCE_FAMILY
		rules "$nsA" "$1" drop && copies 0 && [ "$(seen "$nsA")" -gt 0 ] && no_rules && copies 1 &&
			rules "$nsA" "$1" && copies 1 && [ "$(seen "$nsA")" -gt 0 ] && no_rules || return
	done
}

# usage: members_while COMMAND...: meanwhile the host of nla is in the groups, so that its IP stack makes copies
members_while() {
	local pid status=0

	ip netns exec "$nsA" python3 -c '
import socket, struct, time
index = socket.if_nametoindex("ea")
v4, v6 = (socket.socket(family, socket.SOCK_DGRAM) for family in (socket.AF_INET, socket.AF_INET6))
v4.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
              socket.inet_aton("239.10.0.9") + struct.pack("=4si", bytes(4), index))
v6.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, socket.inet_pton(socket.AF_INET6, "ff15::9") +
              struct.pack("=I", index))
time.sleep(600)' &
	pid=$!
	wait_for 20 joined && "$@" || status=$?
	kill $pid
	wait $pid
	return $status
}
joined() { ip -n "$nsA" maddress show dev ea | grep -q 239.10.0.9 && ip -n "$nsA" maddress show dev ea | grep -q ff15::9; }

# A rule has chosen another route, by which the IP stack sends.
cast_by_another_route() {
	local HROCE_FAMILY

	ip -n "$nsA" rule add fwmark 7 table 77 && ip -n "$nsA" -6 rule add fwmark 7 table 77 &&
		ip -n "$nsA" route add 239.0.0.0/8 dev ea table 77 &&
		ip -n "$nsA" route add multicast ff00::/8 dev ea table 77 || return
	ip netns exec "$nsA" nft -f - <<-NFT || return
	table inet t {
		counter seen { }
		chain c {
			type route hook output priority 0; policy accept;
			udp dport 4791 counter name seen meta mark set 7
		}
	}
	NFT
	for HROCE_FAMILY in 4 6; do
		export HROCE_FAMILY
		copies 1 && members_while copies 1 || return
	done
	[ "$(seen "$nsA")" -ge 4 ] && no_rules
}

# A link may leave the rules out.
switched_off() {
	rules "$nsB" input drop && knob nlb strict N && traffic -n 50 && [ "$(seen "$nsB")" = 0 ] || return
	knob nlb strict Y && refused && no_rules
}

# Rules decide about what a link receives from one of the same host that leaves them out. IP does not answer itself for
# neighbours.
other_link_obeys() {
	local -A to_other=([4]="ip daddr 10.95.0.2" [6]="ip6 daddr fd95::2")
	local family from=nlc to=nld mac_c mac_d

	ip -n "$nsA" link add ec mtu 4200 type veth peer name ed mtu 4200 &&
		ip netns exec "$nsA" sysctl -qw net.ipv4.conf.all.accept_local=1 net.ipv4.conf.all.rp_filter=0 &&
		address "$nsA" ec 1 95 && address "$nsA" ed 2 95 || return
	mac_c=$(ip netns exec "$nsA" cat /sys/class/net/ec/address)
	mac_d=$(ip netns exec "$nsA" cat /sys/class/net/ed/address)
	ip -n "$nsA" neigh add 10.95.0.2 lladdr "$mac_d" dev ec nud permanent &&
		ip -n "$nsA" neigh add 10.95.0.1 lladdr "$mac_c" dev ed nud permanent &&
		ip -n "$nsA" neigh add fd95::2 lladdr "$mac_d" dev ec nud permanent &&
		ip -n "$nsA" neigh add fd95::1 lladdr "$mac_c" dev ed nud permanent &&
		add_link "$nsA" nlc ec && add_link "$nsA" nld ed && knob nlc strict N || return
	for family in 4 6; do
		export HROCE_FAMILY=$family
		traffic -n 50 && rules "$nsA" input && traffic -n 50 && no_rules &&
			rules "$nsA" input "${to_other[$family]} drop" && refused && no_rules || return
	done
	unset HROCE_FAMILY
	rdma link del nlc && rdma link del nld && ip -n "$nsA" link del ec
}

rules_come_under_traffic() {
	vt_options="-e 15" under_traffic rules_come_and_go && [ "$traffic_status" = 0 ] && no_rules
}
rules_come_and_go() {
	for _ in 1 2 3; do
		rules "$nsB" input && rules "$nsA" output || return
		wait_for 30 counted || return
		no_rules
	done
}
counted() { [ "$(seen "$nsA")" -gt 20 ] && [ "$(seen "$nsB")" -gt 20 ]; }

two_ends || { tap_case firewall.topology false; tap_done; exit 1; }
for hook in prerouting input; do
	tap_case "firewall.${hook}_drops" drops "$nsB" $hook
	tap_case "firewall.${hook}_accepts" accepts "$nsB" $hook
	tap_case "firewall.${hook}_within_a_host" within $hook
done
for hook in output postrouting; do
	tap_case "firewall.${hook}_drops" drops "$nsA" $hook
	tap_case "firewall.${hook}_accepts" accepts "$nsA" $hook
	tap_case "firewall.${hook}_within_a_host" within $hook
	tap_case "firewall.${hook}_of_a_group" cast $hook
done
tap_case firewall.group_by_another_route cast_by_another_route
tap_case firewall.stateful stateful
tap_case firewall.switched_off switched_off
tap_case firewall.other_link_obeys other_link_obeys
tap_case firewall.rules_come_under_traffic rules_come_under_traffic
tap_done
