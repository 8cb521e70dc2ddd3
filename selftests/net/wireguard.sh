#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Links on WireGuard netdevs, each of which has the two others as peers.
#
#	namespace A: nla on wa over ea <--+
#	namespace B: nlb on wb over eb <--+--> bridge in namespace G
#	namespace C: nlc on wc over ec <--+

. "$(dirname "$0")/bare.sh"

nsG=neG-$id
port=51820
tmp=$(mktemp -d)

# usage: tunnel NAMESPACE LETTER NUMBER: the netdevs of an end
tunnel() {
	ip link add "e$2" netns "$1" mtu 1500 type veth peer name "g$2" netns "$nsG" mtu 1500 &&
		ip -n "$nsG" link set "g$2" master bridge up && address "$1" "e$2" "$3" 91 &&
		ip -n "$1" link add "w$2" mtu 1420 type wireguard || return
	(umask 077 && wg genkey >"$tmp/$3") && wg pubkey <"$tmp/$3" >"$tmp/$3.pub" &&
		ip netns exec "$1" wg set "w$2" listen-port "$port" private-key "$tmp/$3"
}

# usage: peer_of NAMESPACE NETDEV NUMBER [ADDRESSES]
peer_of() {
	ip netns exec "$1" wg set "$2" peer "$(cat "$tmp/$3.pub")" endpoint "10.91.0.$3:$port" \
		allowed-ips "10.88.0.$3/32,fd88::$3/128${4:-}"
}

topology() {
	new_ns "$nsG" && new_ns "$nsA" && new_ns "$nsB" && new_ns "$nsC" &&
		ip -n "$nsG" link add bridge up type bridge &&
		tunnel "$nsA" a 1 && tunnel "$nsB" b 2 && tunnel "$nsC" c 3 &&
		peer_of "$nsA" wa 2 && peer_of "$nsA" wa 3 &&
		peer_of "$nsB" wb 1 ,10.88.0.9/32,fd88::9/128 && peer_of "$nsB" wb 3 &&
		peer_of "$nsC" wc 1 ,10.88.0.9/32,fd88::9/128 && peer_of "$nsC" wc 2 &&
		bare_links wa wb wc
}

# The payload crosses the wire encrypted: no frame to port 4791 does.
none_in_clear() {
	local dump status=0

	ip netns exec "$nsG" tcpdump -nlp -i ga "udp port 4791 or udp port $port" >"$tmp/dump" 2>"$tmp/dump.log" &
	dump=$!
	wait_for 20 grep -q 'listening on' "$tmp/dump.log" && large_messages || status=1
	kill -INT "$dump" && wait "$dump"
	tail -n 3 "$tmp/dump.log"
	[ $status = 0 ] && grep -q "\.$port: UDP" "$tmp/dump" && ! grep -m 1 '\.4791[ :]' "$tmp/dump"
}

topology || { tap_case wireguard.topology false; tap_done; exit 1; }
tap_case wireguard.one_peer peer nlb
tap_case wireguard.other_peer peer nlc
tap_case wireguard.both_at_once both_at_once
tap_case wireguard.large_messages none_in_clear
tap_case wireguard.addresses_come_and_go addresses_come_and_go wa
rm -r "$tmp"
tap_done
