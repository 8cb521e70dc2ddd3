#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Netdevs that cut super-packets themselves, and some that give all packets of one the same IPv4 identification.
#
#	namespace A: nla on ta <----- cutter.py ----> namespace B: nlb on tb

. "$(dirname "$0")/lib.sh"

has_netdev() { ip -n "$1" link show dev "$2"; }

# usage: wire IDENTIFICATIONS LOSS
wire() {
	new_ns "$nsA" && new_ns "$nsB" || return
	net/cutter.py "$1" "$2" "$nsA:ta" "$nsB:tb" >"/tmp/cutter-$id" 2>&1 &
	cutter=$!
	wait_for 10 has_netdev "$nsA" ta && wait_for 10 has_netdev "$nsB" tb || { cat "/tmp/cutter-$id"; return 1; }
	ip -n "$nsA" link set ta mtu 4200 && ip -n "$nsB" link set tb mtu 4200 &&
		address "$nsA" ta 1 && address "$nsB" tb 2 && reaches "$nsA" 10.90.0.2 fd90::2 &&
		add_link "$nsA" nla ta && add_link "$nsB" nlb tb
}

unwire() {
	kill "$cutter"
	wait "$cutter"
	cleanup
} 2>/dev/null

gso() { cat "/sys/kernel/debug/hroce/$1/gso"; }

# usage: spoilt LINK: how often its netdev was found to spoil super-packets
spoilt() { counter "$1" tx_spoilt; }

# usage: sends_super LINK OPTION...: does traffic make frames of several packets?
sends_super() {
	local frames packets link=$1

	shift
	frames=$(counter "$link" tx_frames) packets=$(counter "$link" tx_packets)
	traffic -e 16 -n 100 "$@" || return 2
	frames=$(($(counter "$link" tx_frames) - frames)) packets=$(($(counter "$link" tx_packets) - packets))
	echo "$link: $packets packets in $frames frames"
	[ "$packets" -gt "$frames" ]
}

# usage: is_found OPTION...: both ends are found out, and nothing fails until then
is_found() {
	mark_log "$*"
	traffic -e 16 -n 400 "$@" || return
	echo "A $(spoilt nla), B $(spoilt nlb); $(counter nla timeouts) and $(counter nlb timeouts) timeouts," \
		"$(counter nla rx_drop_icrc) and $(counter nlb rx_drop_icrc) wrong ICRCs"
	[ "$(spoilt nla)" = 1 ] && [ "$(spoilt nlb)" = 1 ] && [ "$(gso nla)$(gso nlb)" = NN ] || return
	log_since "$*" | grep "ta: hroce: .*ethtool -K ta tx-udp-segmentation off" &&
		log_since "$*" | grep "tb: hroce: .*ethtool -K tb tx-udp-segmentation off" || return
	expect 1 sends_super nla && expect 1 sends_super nlb
}

# The notice is right: what the stack cuts arrives.
cure_helps() {
	ip netns exec "$nsA" ethtool -K ta tx-udp-segmentation off &&
		ip netns exec "$nsB" ethtool -K tb tx-udp-segmentation off || return
	[ "$(gso nla)$(gso nlb)" = YY ] && sends_super nla && sends_super nlb || return
	[ "$(spoilt nla)" = 1 ] && [ "$(spoilt nlb)" = 1 ]
}

# What the administrator has switched off is not switched on by a change of features.
switch_stands() {
	knob nla gso N && ip netns exec "$nsA" ethtool -K ta tx-udp-segmentation on &&
		ip netns exec "$nsA" ethtool -K ta tx-udp-segmentation off && [ "$(gso nla)" = N ]
}

# usage: is_not_found LOSS
is_not_found() {
	local resent

	traffic -e 16 -n 600 || return
	echo "$(counter nla retransmits) and $(counter nlb retransmits) retransmits"
	resent=$(($(counter nla retransmits) + $(counter nla holes_resent)))
	[ "$1" = 0 ] || [ $resent -gt 10 ] || { echo "nothing was lost"; return 1; }
	[ "$(spoilt nla)$(spoilt nlb)" = 00 ] && [ "$(gso nla)$(gso nlb)" = YY ] && sends_super nla
}

[ -d /sys/kernel/debug/hroce ] || mount -t debugfs debugfs /sys/kernel/debug
wire same 0 || { tap_case segments.topology false; tap_done; exit 1; }
tap_case segments.same_identification is_found
tap_case segments.cure_helps cure_helps
tap_case segments.switch_stands switch_stands
unwire
wire same 0
tap_case segments.same_identification_one_at_a_time is_found -w 1
unwire
wire counted 0
tap_case segments.counted_identifications is_not_found 0
unwire
wire counted 1
tap_case segments.loss is_not_found 1
unwire
tap_done
