#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A path marks packets of all kinds, single ones and super-packets: the receiver tells their sender, which slows down. Those
# whose sender reacts say so, and a path may mark instead of dropping them.
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
		heard=$(heard "$2") own=$(counter "$2" np_cnp_sent)
		HROCE_FAMILY=$family traffic -n 200 && grows "$3" np_ecn_marked_roce_packets "$marked" 100 &&
			grows "$3" np_cnp_sent "$sent" 1 || return
		sent=$(($(counter "$3" np_cnp_sent) - sent))
		[ "$(heard "$2")" -ge $((heard + sent)) ] && [ "$(counter "$2" np_cnp_sent)" = "$own" ] || return
	done
	ip netns exec "$1" nft flush ruleset
}

# usage: heard LINK: notifications that came, to queue pairs in any state
heard() {
	local name sum=0

	for name in rp_cnp_handled rx_drop_cnp rx_drop_qp_state rx_drop_no_qp; do sum=$((sum + $(counter "$1" $name))); done
	echo "$sum"
}

# usage: count_ecn_bits NAMESPACE NETDEV: count frames of RoCEv2 that leave by it, by their ECN bits
count_ecn_bits() {
	ip netns exec "$1" nft -f - <<-NFT
	table netdev e {
		chain c {
			type filter hook egress device $2 priority 0; policy accept;
			udp dport 4791 ip ecn not-ect counter comment "not-ect"
			udp dport 4791 ip ecn ect0 counter comment "ect0"
			udp dport 4791 ip ecn ect1 counter comment "ect1"
			udp dport 4791 ip6 ecn not-ect counter comment "not-ect"
			udp dport 4791 ip6 ecn ect0 counter comment "ect0"
			udp dport 4791 ip6 ecn ect1 counter comment "ect1"
		}
	}
	NFT
}
# usage: ecn_bits NAMESPACE BITS: how many it were
ecn_bits() {
	local n sum=0

	for n in $(ip netns exec "$1" nft list table netdev e | sed -n "s/.* ecn $2 counter packets \([0-9]*\).*/\1/p"); do
		sum=$((sum + n))
	done
	echo "$sum"
}

# usage: capable ECT0-EXPECTED OPTIONS...: traffic whose requests are ECN-capable, or nothing is
capable() {
	local expected=$1 family

	shift
	count_ecn_bits "$nsA" ea || return
	for family in 4 6; do
		HROCE_FAMILY=$family traffic -n 100 "$@" || return
	done
	ip netns exec "$nsA" nft list table netdev e
	[ "$(ecn_bits "$nsA" ect1)" = 0 ] && [ $(($(ecn_bits "$nsA" ect0) > 50)) = "$expected" ] || return
	ip netns exec "$nsA" nft flush ruleset
}

# With the switch off, and with a control that does not react.
capable_no_more() {
	knob nla rp_enable N && knob nlb rp_enable N && capable 0 || return
	knob nla rp_enable Y && knob nlb rp_enable Y
	knob nla cc none && knob nlb cc none && capable 0 && capable 0 -t uc || return
	knob nla cc delay && knob nlb cc delay
}

# usage: slowed TYPE CONTROL: its requests are ECN-capable, and CNPs are obeyed
slowed() {
	local handled

	knob nla cc "$2" && knob nlb cc "$2" && capable 1 -t "$1" || return
	handled=$(counter nla rp_cnp_handled)
	path_marks "$nsA" && traffic -n 300 -t "$1" && grows nla rp_cnp_handled "$handled" 1 || return
	ip netns exec "$nsA" nft flush ruleset
	knob nla cc delay && knob nlb cc delay
}

# usage: moves read|write MESSAGES [OPTION...]: of 64 KB, by A, from B or to it
moves() {
	local options=(-F -s 65536 -n "$2" -x 1 "${@:3}")

	ip netns exec "$nsB" "ib_$1_bw" -d nlb "${options[@]}" >"/tmp/ecn-$id" 2>&1 &
	ip netns exec "$nsB" lib/listens 20 18515 || return
	ip netns exec "$nsA" "ib_$1_bw" -d nla "${options[@]}" 10.90.0.2 || return
	wait $! || { cat "/tmp/ecn-$id"; return 1; }
}

# usage: answers_capable MOVES FEWEST MOST: how many of the answers to that are ECN-capable
answers_capable() {
	local bits

	count_ecn_bits "$nsB" eb && moves "$1" 200 || return
	ip netns exec "$nsB" nft list table netdev e
	bits=$(ecn_bits "$nsB" ect0)
	[ "$bits" -ge "$2" ] && [ "$bits" -le "$3" ] && [ $((bits + $(ecn_bits "$nsB" not-ect))) -gt 0 ] || return
	ip netns exec "$nsB" nft flush ruleset
}

# READ responses are ECN-capable if their sender reacts, and what acknowledges never is.
answers_capable_too() {
	answers_capable read 100 100000 && answers_capable write 0 0 || return
	knob nlb cc none && answers_capable read 0 0 || return
	knob nlb cc delay
}

# usage: answers_slowed CONTROL [OPTION...]: B is told by CNPs for its answers: it sends no request
answers_slowed() {
	local handled

	knob nlb cc "$1" || return
	handled=$(counter nlb rp_cnp_handled)
	path_marks "$nsB" && moves read 200 "${@:2}" && grows nlb rp_cnp_handled "$handled" 1 || return
	ip netns exec "$nsB" nft flush ruleset
	knob nlb cc delay
}

# The path marks instead of dropping. Who is told makes its window smaller.
marks_instead_of_losses() {
	local handled marked

	handled=$(counter nla rp_cnp_handled) marked=$(counter nlb np_ecn_marked_roce_packets)
	tc -n "$nsA" qdisc add dev ea root netem limit 10000 loss 30% ecn || return
	traffic -n 300 -e 13
	status=$?
	tc -s -n "$nsA" qdisc show dev ea
	tc -n "$nsA" qdisc del dev ea root
	[ "$status" = 0 ] && grows nlb np_ecn_marked_roce_packets "$marked" 50 && grows nla rp_cnp_handled "$handled" 5
}

# Queue pairs of nla that send, and their controls: "QPN CONTROL".
controls() {
	rdma -dd resource show qp link nla/1 | sed -n 's/.*lqpn \([0-9]*\) .*type RC state RTS.* drv_cc \([a-z]*\) .*/\1 \2/p'
}

has_controls() { [ -n "$(controls)" ]; }

changes_under_way() {
	local qpn words

	wait_for 20 has_controls && qpn=$(controls | sed -n '1s/ .*//p') || return
	knob nla cc_qp "$qpn none" && controls | grep -x "$qpn none" && sleep 1 && controls | grep -x "$qpn none" &&
		knob nla cc_qp "$qpn  dcqcn" && sleep 1 && controls | grep -x "$qpn dcqcn" || return
	# Queue pair 1 sends datagrams.
	for words in "$qpn other" "$qpn" "none" " " "$qpn none 4" "$((qpn ^ 0x800000)) none" "1 none"; do
		! knob nla cc_qp "$words" 2>/dev/null || { echo "accepted: '$words'"; return 1; }
	done
	controls | grep -x "$qpn dcqcn"
}

# What is not said of a queue pair is not changed: nlb's have what they had.
of_a_queue_pair() {
	under_traffic changes_under_way && [ "$traffic_status" = 0 ] && traffic -n 30
}

# usage: of_queue_pairs LINK NAME: what the counters of its queue pairs have
of_queue_pairs() {
	rdma -j statistic qp show link "$1/1" | grep -o "\"$2\":[0-9]*" | awk -F: '{ n += $2 } END { print n + 0 }'
}

have() { [ "$(of_queue_pairs "$1" "$2")" -ge "$3" ]; }

# usage: told_apart BEFORE: numbers of the queue pairs, which are the only ones, are those that the links' grew by
told_apart() {
	local link name before now

	wait_for 20 have nlb np_ecn_marked_roce_packets 50 && wait_for 20 have nlb np_cnp_sent 2 &&
		wait_for 20 have nla rp_cnp_handled 2 && knob nla rp_enable N && wait_for 20 have nla rp_cnp_ignored 2 &&
		ip netns exec "$nsA" nft flush ruleset && sleep 1 || return
	while read -r link name before; do
		now=$(of_queue_pairs "$link" "$name")
		[ $(($(counter "$link" "$name") - before)) = "$now" ] || { echo "$name: $before + $now"; return 1; }
	done <<<"$1"
}

# Links count what is marked and CNPs; with counters of queue pairs one sees whose they are, and they count once.
whose_marks() {
	local before name link status=0

	before=$(for name in nlb:np_{ecn_marked_roce_packets,cnp_sent} nla:{rp_cnp_handled,rp_cnp_ignored,rx_drop_cnp}; do
		link=${name%:*}
		echo "$link ${name#*:} $(counter "$link" "${name#*:}")"
	done)
	for link in nla nlb; do rdma statistic qp set link $link/1 auto type on || return; done
	path_marks "$nsA" && under_traffic told_apart "$before" && [ "$traffic_status" = 0 ] || status=1
	knob nla rp_enable Y
	ip netns exec "$nsA" nft flush ruleset
	for link in nla nlb; do rdma statistic qp set link $link/1 auto off || return; done
	return $status
}

# Who sends datagrams is not told.
datagrams() {
	local marked sent

	marked=$(counter nlb np_ecn_marked_roce_packets) sent=$(counter nlb np_cnp_sent)
	path_marks "$nsA" && traffic -t ud -n 50 && grows nlb np_ecn_marked_roce_packets "$marked" 50 || return
	ip netns exec "$nsA" nft flush ruleset
	[ "$(counter nlb np_cnp_sent)" = "$sent" ]
}

# Two queue pairs of nlb have sent to each other, have no control, and no rate.
uncontrolled() {
	local shown

	shown=$(rdma -dd resource show qp link nlb/1 | grep 'type RC state RTS')
	[ "$(grep -c ' drv_cc none ' <<<"$shown")" = 2 ] && ! grep -E ' drv_(cc_rate|spread)_kbps ' <<<"$shown"
}

ignores_marks() {
	local handled ignored

	wait_for 20 uncontrolled && [ "$(counter nlb tx_local_packets)" -gt "$1" ] || return
	handled=$(counter nlb rp_cnp_handled) ignored=$(counter nlb rx_drop_cnp)
	# From now on packets take the way through the rules.
	path_marks "$nsB" && wait_for 20 grows nlb rx_drop_cnp "$ignored" 5 && uncontrolled || return
	[ "$(counter nlb rp_cnp_handled)" = "$handled" ]
}

# usage: within_host CONTROL: what begins with it on one host ends without, and obeys no CNP
within_host() {
	local status=0

	knob nlb cc "$1" || return
	from=nlb to=nlb under_traffic ignores_marks "$(counter nlb tx_local_packets)" && [ "$traffic_status" = 0 ] ||
		status=1
	ip netns exec "$nsB" nft flush ruleset
	knob nlb cc delay
	return $status
}

two_ends || { tap_case ecn.topology false; tap_done; exit 1; }
tap_case ecn.requests_marked told "$nsA" nla nlb
tap_case ecn.answers_marked told "$nsB" nlb nla
tap_case ecn.whose_marks whose_marks
tap_case ecn.datagrams datagrams
tap_case ecn.requests_capable capable 1
tap_case ecn.datagrams_not_capable capable 0 -t ud
tap_case ecn.capable_no_more capable_no_more
tap_case ecn.reliable_slowed slowed rc dcqcn
tap_case ecn.unreliable_slowed slowed uc dcqcn
tap_case ecn.unreliable_slowed_with_delay slowed uc delay
tap_case ecn.answers_capable answers_capable_too
tap_case ecn.answers_slowed answers_slowed delay
tap_case ecn.answers_slowed_by_dcqcn answers_slowed dcqcn
tap_case ecn.answers_of_xrc_slowed answers_slowed dcqcn -c XRC
tap_case ecn.control_of_a_queue_pair of_a_queue_pair
tap_case ecn.marks_instead_of_losses marks_instead_of_losses
tap_case ecn.within_host within_host delay
tap_case ecn.within_host_with_dcqcn within_host dcqcn
tap_stream '' net/cnps.py "$nsA" "$nsB" 4
tap_done
