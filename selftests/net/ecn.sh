#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A path marks packets of all kinds, single ones and super-packets: the receiver tells their sender, and all arrive.
#
#	namespace A: nla on ea <----- veth -----> namespace B: nlb on eb

. "$(dirname "$0")/lib.sh"

# usage: path_marks NAMESPACE: what leaves it comes through congestion
path_marks() {
	ip netns exec "$1" nft -f - <<-NFT
	table inet t {
		chain c {
			type filter hook postrouting priority 0; policy accept;
			meta nfproto ipv4 udp dport 4791 ip ecn set ce
			meta nfproto ipv6 udp dport 4791 ip6 ecn set ce
		}
	}
	NFT
}

# usage: told NAMESPACE FROM TO: packets that leave the namespace of FROM are marked: TO tells FROM, in both families
told() {
	local family marked sent heard own

	path_marks "$1" || return
	for family in 4 6; do
		marked=$(counter "$3" np_ecn_marked_roce_packets) sent=$(counter "$3" np_cnp_sent)
		heard=$(counter "$2" rx_drop_cnp) own=$(counter "$2" np_cnp_sent)
		HROCE_FAMILY=$family traffic -n 200 && grows "$3" np_ecn_marked_roce_packets "$marked" 100 &&
			grows "$3" np_cnp_sent "$sent" 1 || return
		sent=$(($(counter "$3" np_cnp_sent) - sent))
		grows "$2" rx_drop_cnp "$heard" $sent && [ "$(counter "$2" np_cnp_sent)" = "$own" ] || return
	done
	ip netns exec "$1" nft flush ruleset
}

# Who sends datagrams is not told.
datagrams() {
	local marked sent

	marked=$(counter nlb np_ecn_marked_roce_packets) sent=$(counter nlb np_cnp_sent)
	path_marks "$nsA" && traffic -t ud -n 50 && grows nlb np_ecn_marked_roce_packets "$marked" 50 || return
	ip netns exec "$nsA" nft flush ruleset
	[ "$(counter nlb np_cnp_sent)" = "$sent" ]
}

two_ends || { tap_case ecn.topology false; tap_done; exit 1; }
tap_case ecn.requests_marked told "$nsA" nla nlb
tap_case ecn.answers_marked told "$nsB" nlb nla
tap_case ecn.datagrams datagrams
tap_done
