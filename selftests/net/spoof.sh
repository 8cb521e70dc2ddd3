#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Forged packets of a third party.
#
#	namespace A: nla on ea <----- veth -----> namespace B: nlb on eb, where the forger sits

. "$(dirname "$0")/lib.sh"

# usage: learned_mtu ADDRESS MTU: has A's kernel learned it?
learned_mtu() { ip -n "$nsA" route get "$1" | grep -q "mtu $2"; }

# usage: too_big A B: connections go on after A was told of a narrow path to B
too_big() {
	traffic -n 50 &&
		ip netns exec "$nsB" net/spoof.py too-big "$2" "$1" 1280 && wait_for 5 learned_mtu "$2" 1280 &&
		expect 0 traffic -n 200 && expect 0 traffic -t ud -n 50
}

# An MTU that the administrator has set holds.
route_mtu() {
	ip -n "$nsA" route replace 10.90.0.0/24 dev ea mtu 2000 &&
		expect 2 traffic -n 50 -e 8 -r 1 && traffic -m 1024 -n 100 && ip -n "$nsA" route replace 10.90.0.0/24 dev ea
}

# usage: from SOURCE VICTIM
from() {
	ip netns exec "$nsB" net/spoof.py source "$1" "$2" eb "$(ip netns exec "$nsA" cat /sys/class/net/ea/address)"
}

# usage: drops VICTIM SOURCE...: each is dropped and counted
drops() {
	local victim=$1 it before

	shift
	for it; do
		before=$(counter nla rx_drop_source)
		from "$it" "$victim" && wait_for 5 grows nla rx_drop_source "$before" 1 || { echo "$it passed"; return 1; }
	done
}

# An address of another netdev of this host, and as the counter-check one of a stranger.
sources() {
	local before

	ip -n "$nsA" link add da type dummy && address "$nsA" da 1 89 || return
	drops 10.90.0.1 10.90.0.1 10.89.0.1 127.0.0.1 0.0.0.0 255.255.255.255 10.90.0.255 224.0.0.5 &&
		drops fd90::1 fd90::1 fd89::1 ::1 :: ff02::5 || return
	before=$(counter nla rx_drop_source)
	from 10.90.0.7 10.90.0.1 && from fd90::7 fd90::1 && traffic -n 50 && expect 1 grows nla rx_drop_source "$before" 1
}

# usage: unnoticed [SOURCE VICTIM]...: none is for nla; the frame of a stranger behind them is
unnoticed() {
	local before

	before=$(counter nla rx_packets)
	while [ $# != 0 ]; do
		from "$1" "$2" || return
		shift 2
	done
	from 10.90.0.7 10.90.0.1 && wait_for 5 grows nla rx_packets "$before" 1 && expect 1 grows nla rx_packets "$before" 2
}

# IPv4 addresses in IPv6 headers, which rules for IPv4 do not see.
mapped() {
	unnoticed ::ffff:10.90.0.2 ::ffff:10.90.0.1 ::ffff:10.90.0.2 fd90::1 fd90::2 ::ffff:10.90.0.1 \
		::ffff:10.90.0.2 ::ffff:239.9.9.9
}
mapped_pass_no_rule() {
	ip netns exec "$nsA" nft -f - <<-NFT || return
	table ip t {
		chain c {
			type filter hook input priority 0; policy accept;
			ip saddr 10.90.0.2 udp dport 4791 drop
		}
	}
	NFT
	mapped && unnoticed 10.90.0.2 10.90.0.1 && ip netns exec "$nsA" nft flush ruleset
}

# ib_core makes a GID of the peer of a point-to-point address: an address of another host, which the link does not have.
peer_address() {
	local dir=/sys/class/infiniband/nla/ports/1/gids gid=0000:0000:0000:0000:0000:ffff:0a57:0002 index server

	ip -n "$nsA" address add 10.87.0.1 peer 10.87.0.2/32 dev ea && wait_for 5 grep -rqs $gid $dir || return
	index=$(grep -rls $gid $dir) && unnoticed 10.90.0.7 10.87.0.2 || return
	ip netns exec "$nsA" timeout 30 ibv_rc_pingpong -d nla -g "${index##*/}" 2>"/tmp/peer-$id" &
	server=$!
	wait_for 10 bash -c "ip netns exec $nsA ss -Hltn 'sport = 18515' | grep -q ." &&
		ip netns exec "$nsA" timeout 20 ibv_rc_pingpong -d nla -g "${index##*/}" 127.0.0.1
	kill $server 2>/dev/null
	wait $server
	grep "Failed to modify QP to RTR" "/tmp/peer-$id"
}

two_ends || { tap_case spoof.topology false; tap_done; exit 1; }
tap_case spoof.fragmentation_needed too_big 10.90.0.1 10.90.0.2
HROCE_FAMILY=6 tap_case spoof.packet_too_big too_big fd90::1 fd90::2
tap_case spoof.route_mtu route_mtu
tap_case spoof.sources sources
tap_case spoof.mapped mapped
tap_case spoof.mapped_pass_no_rule mapped_pass_no_rule
tap_case spoof.peer_address peer_address
tap_done
