#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Policies of IPsec, and rules of iptables' own tables, in kernels that have them.
#
#	namespace A: nla on ea <----- veth -----> namespace B: nlb on eb

. "$(dirname "$0")/lib.sh"

refused() { expect 2 traffic -n 20 -e 8 -r 1; }

# usage: policy NAMESPACE in|out SOURCE DESTINATION
policy() {
	ip -n "$1" xfrm policy add dir "$2" src "$3" dst "$4" tmpl src "$3" dst "$4" proto esp mode transport
}

plain_is_refused() {
	traffic -n 50 && policy "$nsB" in 10.90.0.1 10.90.0.2 && refused &&
		ip -n "$nsB" xfrm policy flush && traffic -n 50
}

encrypted() {
	local ns direction

	for ns in "$nsA" "$nsB"; do
		for direction in "10.90.0.1 10.90.0.2" "10.90.0.2 10.90.0.1"; do
			# shellcheck disable=SC2086
			set -- $direction
			ip -n "$ns" xfrm state add src "$1" dst "$2" proto esp spi "0x10${1##*.}" mode transport \
				auth 'hmac(sha256)' 0x0123456789abcdef0123456789abcdef \
				enc 'cbc(aes)' 0x00112233445566778899aabbccddeeff || return
		done
	done
	policy "$nsA" out 10.90.0.1 10.90.0.2 && policy "$nsB" out 10.90.0.2 10.90.0.1 &&
		policy "$nsA" in 10.90.0.2 10.90.0.1 && policy "$nsB" in 10.90.0.1 10.90.0.2 || return
	traffic -n 50 -m 1024 && traffic -t ud -n 50 -x 1000 || return
	ip -n "$nsA" -s xfrm state show | grep '[1-9][0-9]*(bytes), [1-9]' &&
		ip -n "$nsA" xfrm policy flush && ip -n "$nsB" xfrm policy flush && traffic -n 50
}

# usage: table NAMESPACE CHAIN
table() {
	ip netns exec "$1" iptables-legacy -A "$2" -p udp --dport 4791 -j DROP && refused &&
		ip netns exec "$1" iptables-legacy -R "$2" 1 -p udp --dport 4791 -j ACCEPT && traffic -n 50 &&
		ip netns exec "$1" iptables-legacy -F "$2"
}

iptables() { table "$nsB" INPUT && table "$nsA" OUTPUT; }

# Security modules have hooks of their own there; they are no rules.
without_rules() {
	local before

	before=$(counter nla tx_local_packets)
	to=nla traffic -n 50 && grows nla tx_local_packets "$before" 50
}

# Policies for others send frames within a host up the IP stack as well.
within_a_host() {
	local HROCE_FAMILY to=nla

	knob nla local N && policy "$nsA" in 10.99.0.1 10.99.0.2 || return
	for HROCE_FAMILY in 4 6; do
		export HROCE_FAMILY
		traffic -n 50 && traffic -t ud -n 20 || return
	done
	ip -n "$nsA" xfrm policy flush && traffic -n 50 && knob nla local Y
}

# usage: sends_to_bridge SOURCE: by A, to an address that B's bridge translates into its own
sends_to_bridge() {
	ip netns exec "$nsA" net/spoof.py source "$1" fd90::99 ea "$(ip netns exec "$nsB" cat /sys/class/net/brb/address)"
}

# Behind br_netfilter a frame has a route, as those have that links of this host deliver, but is from another host.
translated() {
	local before

	cleanup
	modprobe br_netfilter || { echo "no br_netfilter"; return 4; }
	two_ends 4200 bare && ip -n "$nsB" address flush dev eb &&
		ip -n "$nsB" link add brb mtu 4200 type bridge && ip -n "$nsB" link set eb master brb &&
		address "$nsB" brb 2 && reaches "$nsA" 10.90.0.2 fd90::2 && add_link "$nsA" nla ea && add_link "$nsB" nlb brb &&
		knob nlb strict N && ip netns exec "$nsB" nft -f - <<-NFT || return
	table ip6 t {
		chain c {
			type nat hook prerouting priority -100;
			ip6 daddr fd90::99 dnat to fd90::2
		}
	}
	NFT
	before=$(counter nlb rx_packets)
	sends_to_bridge fd90::7 && wait_for 5 grows nlb rx_packets "$before" 1 || { echo "nothing is translated"; return 1; }
	before=$(counter nlb rx_drop_source)
	sends_to_bridge fd90::2 && wait_for 5 grows nlb rx_drop_source "$before" 1 || { echo "its own source"; return 1; }
	before=$(counter nlb rx_packets)
	# Policies see the address that the sender has chosen.
	policy "$nsB" in fd90::7 fd90::99 && sends_to_bridge fd90::7 && sleep 1 && expect 1 grows nlb rx_packets "$before" 1
}

two_ends 9000 || { tap_case ipsec.topology false; tap_done; exit 1; }
tap_case ipsec.without_rules without_rules
tap_case ipsec.within_a_host within_a_host
tap_case ipsec.plain_is_refused plain_is_refused
tap_case ipsec.encrypted encrypted
tap_case ipsec.iptables iptables
tap_case ipsec.translated translated
cleanup
rmmod br_netfilter 2>/dev/null
tap_done
