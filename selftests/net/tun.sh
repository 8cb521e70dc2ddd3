#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Links on netdevs without a link layer.
#
#	namespace A: nla on ta <----- tun.py ----> namespace B: nlb on tb
#	namespace A: nla on ta <----- tun.py ----> namespace C: nlc on tc

. "$(dirname "$0")/bare.sh"

has_tun() { ip -n "$1" link show dev "$2"; }

topology() {
	new_ns "$nsA" && new_ns "$nsB" && new_ns "$nsC" || return
	net/tun.py "$nsA:ta:88.0.1" "$nsB:tb:88.0.2" "$nsC:tc:88.0.3" "$nsA:ta:88.0.9" >/dev/null 2>&1 &
	tun=$!
	wait_for 10 has_tun "$nsA" ta && wait_for 10 has_tun "$nsB" tb && wait_for 10 has_tun "$nsC" tc || return
	ip -n "$nsA" link set ta mtu 1420 && ip -n "$nsB" link set tb mtu 1420 && ip -n "$nsC" link set tc mtu 1420 &&
		bare_links ta tb tc
}

# For netdevs other than Ethernet rdma_cm looks for GIDs of InfiniBand, which no RoCE device has.
cm_refuses() {
	ip netns exec "$nsB" timeout 30 rping -s -a 10.88.0.2 -C 1 2>&1 | tee /dev/stderr | grep -q 'No such device'
}

topology || { tap_case tun.topology false; tap_done; exit 1; }
tap_case tun.one_peer peer nlb
tap_case tun.other_peer peer nlc
tap_case tun.both_at_once both_at_once
tap_case tun.large_messages large_messages
tap_case tun.addresses_come_and_go addresses_come_and_go ta
tap_case tun.rdma_cm_refuses cm_refuses
kill "$tun"
tap_done
