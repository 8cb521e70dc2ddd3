# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A netdev that loses HROCE_LOSS percent of the packets that leave it, and the proof that it did. Nothing is lost, and
# there is nothing to prove, without HROCE_LOSS. Source it after tap.sh.
#
# A link that talks to itself sends through "lo", in both directions; of two machines each loses what it sends.

# usage: lossy LINK NETDEV: netem takes a super-packet for one packet, so there are none
lossy() {
	[ -n "${HROCE_LOSS:-}" ] || return 0
	lossy_link=$1 lossy_dev=$2
	[ -d /sys/kernel/debug/hroce ] || mount -t debugfs debugfs /sys/kernel/debug || return
	echo N >"/sys/kernel/debug/hroce/$1/gso" && lossy_by_lo &&
		tc qdisc add dev "$2" root netem limit 10000 loss "$HROCE_LOSS%"
}

# A link sends itself frames through "lo" where netfilter has a hook.
lossy_by_lo() {
	[ "$lossy_dev" = lo ] || return 0
	echo N | tee "/sys/kernel/debug/hroce/$lossy_link/"{local,elide_icrc} && nft add table inet lossy &&
		nft add chain inet lossy output '{ type filter hook output priority 0; }'
}

# Packets that were dropped, and times that the link sent or asked for something again.
lossy_lost() { tc -s qdisc show dev "$lossy_dev" root | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p'; }

lossy_resent() {
	local sum=0 name

	for name in holes_resent retransmits probes; do
		sum=$((sum + $(cat "/sys/class/infiniband/$lossy_link/ports/1/hw_counters/$name")))
	done
	echo $sum
}

# What lossy_case compares with.
lossy_mark() { [ -z "${HROCE_LOSS:-}" ] || { lossy_lost_before=$(lossy_lost) lossy_resent_before=$(lossy_resent); }; }

lossy_grown() {
	local lost resent

	lost=$(($(lossy_lost) - lossy_lost_before)) resent=$(($(lossy_resent) - lossy_resent_before))
	echo "$lost packets lost, $resent times resent"
	[ $lost -gt 0 ] && [ $resent -gt 0 ]
}

# usage: lossy_case NAME: since lossy_mark packets were lost and resent
lossy_case() {
	[ -n "${HROCE_LOSS:-}" ] || return 0
	echo "# $1: $(lossy_grown)"
	tap_case "$1" lossy_grown
}
