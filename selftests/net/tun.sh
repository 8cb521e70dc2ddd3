#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Links on netdevs without a link layer.
#
#	namespace A: nla on ta <----- tun.py ----> namespace B: nlb on tb
#	namespace A: nla on ta <----- tun.py ----> namespace C: nlc on tc

. "$(dirname "$0")/lib.sh"

nsC=neC-$id

has_tun() { ip -n "$1" link show dev "$2"; }

# Addresses first: they are those at the time when the link is made.
topology() {
	new_ns "$nsA" && new_ns "$nsB" && new_ns "$nsC" || return
	selftests/net/tun.py "$nsA:ta:88.0.1" "$nsB:tb:88.0.2" "$nsC:tc:88.0.3" >/dev/null 2>&1 &
	tun=$!
	wait_for 10 has_tun "$nsA" ta && wait_for 10 has_tun "$nsB" tb && wait_for 10 has_tun "$nsC" tc || return
	ip -n "$nsA" link set ta mtu 1420 && ip -n "$nsB" link set tb mtu 1420 && ip -n "$nsC" link set tc mtu 1420 &&
		address "$nsA" ta 1 88 && address "$nsB" tb 2 88 && address "$nsC" tc 3 88 &&
		reaches "$nsA" 10.88.0.2 10.88.0.3 fd88::2 fd88::3 &&
		add_link "$nsA" nla ta && add_link "$nsB" nlb tb && add_link "$nsC" nlc tc
}

# usage: peer LINK
peer() {
	local family type

	for family in 4 6; do
		for type in rc uc ud; do
			to=$1 HROCE_FAMILY=$family traffic -t $type -n 50 -e 18 || return
		done
	done
}

both_at_once() {
	to=nlb traffic -n 100 -e 18 &
	to=nlc traffic -n 100 -e 18 && wait $!
}

topology || { tap_case tun.topology false; tap_done; exit 1; }
tap_case tun.one_peer peer nlb
tap_case tun.other_peer peer nlc
tap_case tun.both_at_once both_at_once
tap_done
kill "$tun"
[ "$tap_failures" = 0 ]
