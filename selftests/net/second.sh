#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two addresses by agreement: a node has two links, and queue pairs of one of them go on by the other when a way breaks,
# whether somebody notices or not, and return.
#
#	namespace A: nla on ea <--- veth ---> eb, nlb: namespace B
#	             nlc on ec <--- veth ---> ed, nld

. "$(dirname "$0")/lib.sh"

# usage: state LINK: what the queue pairs of a link say of their second way
state() { rdma -dd resource show qp link "$1" | sed -n 's/.*drv_second \([a-z]*\).*/\1/p' | sort | uniq -c; }

# usage: second LINK [LINK]: which is the second link of which; none without the other
second() { knob "$1" second "${2:-}"; }
seconds_on() { second nla nlc && second nlb nld; }
# Also the other way round: links may be second links of each other.
all_seconds_on() { seconds_on && second nlc nla && second nld nlb; }

# usage: are LINK... STATE: all queue pairs of these links that have a second way are in that state, and there are some
are() {
	local link

	for link in "${@:1:$#-1}"; do
		[ "$(state "$link" | awk '{ print $2 }')" = "${*: -1}" ] || return
	done
}

# usage: become LINK... STATE: within some seconds
become() { wait_for 15 are "$@" || { for link in "${@:1:$#-1}"; do echo "$link: $(state "$link")"; done; false; }; }

# usage: packets NAMESPACE NETDEV: that it has sent
packets() { ip netns exec "$1" cat "/sys/class/net/$2/statistics/tx_packets"; }
sends() { [ "$(packets "$1" "$2")" -ge $(($3 + 500)) ]; }

# usage: taken NAMESPACE NETDEV: packets leave by it
taken() { wait_for 15 sends "$1" "$2" "$(packets "$1" "$2")"; }

# Traffic of A goes on: a thousand packets more.
goes_on() {
	local before

	before=$(counter nlb rx_packets)
	wait_for 15 grows nlb rx_packets "$before" 1000
}

lose() { tc -n "$1" qdisc add dev "$2" root netem loss 100% limit 100000; }
find() { tc -n "$1" qdisc del dev "$2" root; }
down() { ip -n "$1" link set "$2" down; }
up() { ip -n "$1" link set "$2" up; }

# usage: breaks_and_returns BREAK REPAIR NAMESPACE NETDEV: the first way breaks, the second is taken, and then the first
breaks_and_returns() {
	become nla nlb ready && "$1" "$3" "$4" && become nla used && taken "$nsA" ec && taken "$nsB" ed && goes_on &&
		"$2" "$3" "$4" && become nla nlb ready && taken "$nsA" ea && taken "$nsB" eb && goes_on
}

# usage: survives COMMAND...: no request fails
survives() {
	local before after

	before=$(counter nla rehashes)
	under_traffic "$@" || return
	after=$(counter nla rehashes)
	echo "nla: $((after - before)) times another way, recoveries of nla:" \
		"$(grep . /sys/class/infiniband/nla/ports/1/hw_counters/recovery_* | sed 's/.*_\([lg][et]_\)/\1/' | tr '\n' ' ')"
	[ "$traffic_status" = 0 ] && [ "$after" -gt "$before" ]
}

# The second way, which is in use, breaks: what goes there returns, as the first one is good again.
both_in_turn() {
	become nla nlb ready && lose "$nsA" ea && become nla used && find "$nsA" ea && lose "$nsA" ec &&
		become nla nlb ready && taken "$nsA" ea && find "$nsA" ec && goes_on
}

# usage: link_removed NAMESPACE NETDEV LINK COMMAND...: a second link that is in use goes: queue pairs return to the first
# way, and know no second one any more; new ones have one again when the link is there again
link_removed() {
	become nla nlb ready && lose "$nsA" ea && become nla used && find "$nsA" ea && "${@:4}" &&
		taken "$nsA" ea && goes_on && wait_for 10 gone "$3"
}
gone() { [ ! -e "/sys/class/infiniband/$1" ]; }
removed() {
	survives link_removed "$@" || return
	[ -z "$(cat /sys/kernel/debug/hroce/nla/second)" ] || [ "$3" = nld ] || return
	if ! ip -n "$1" link show "$2" >/dev/null; then
		ip link add ec netns "$nsA" mtu 4200 type veth peer name ed netns "$nsB" mtu 4200 &&
			address "$nsA" ec 1 91 && address "$nsB" ed 2 91 && reaches "$nsA" 10.91.0.2 fd91::2 || return
	fi
	# A netdev takes its peer with it, and so the link there.
	gone nlc && { add_link "$nsA" nlc ec || return; }
	gone nld && { add_link "$nsB" nld ed || return; }
	all_seconds_on && under_traffic become nla nlb ready && [ "$traffic_status" = 0 ]
}

# A process dies while its queue pairs use the second way; nothing of them is left there.
killed() {
	local status=0

	traffic -T 100 >/dev/null 2>&1 &
	become nla nlb ready && lose "$nsA" ea && become nla used || status=1
	pkill -KILL -x vt_traffic
	wait
	find "$nsA" ea
	[ "$status" = 0 ] && wait_for 10 unused nla && wait_for 10 unused nlb
}
unused() { [ -z "$(state "$1")" ]; }

# usage: sport_at NAMESPACE NETDEV: source port of requests that come in
sport_at() {
	ip netns exec "$1" timeout 20 tcpdump -Q in -nlp -c 1 -i "$2" "udp dst port 4791 and len > 1000" 2>/dev/null |
		sed -n 's/.*IP [0-9.]*\.\([0-9]*\) > .*/\1/p'
}

# A pause after which requests take another port of the second way. A slow one may be silent, so that the first is tried.
moves() { pauses rehashes 10 && now=$(sport_at "$nsB" ed) && [ -n "$now" ] && [ "$now" != "$second" ]; }

# Requests take the second way, and packets wait there: after a pause they take another port of that one.
flowlets_there() {
	local first second now status=0

	stream_begins write nlb && become nla nlb ready && lose "$nsA" ea && become nla used && taken "$nsA" ec &&
		tc -n "$nsA" qdisc add dev ec root tbf rate 200mbit burst 70000 limit 10m || return
	# Silence is to draw no port.
	knob nla rehash N && knob nlb rehash N || return
	first=$(sport) second=$(sport_at "$nsB" ed)
	[ -n "$second" ] && knob nla flowlet Y && wait_for 30 moves || status=1
	echo "ports of the first way: $first, $(sport), of the second: $second, $now"
	[ "$(sport)" = "$first" ] || status=1
	find "$nsA" ea && find "$nsA" ec && knob nla flowlet N && knob nla rehash Y && knob nlb rehash Y || status=1
	# Its ends talk by the first way, too.
	stream_ends
	return "$status"
}

# XRC, whose requesters and responders are apart.
xrc_goes_on() {
	local running=/tmp/second-$id pid status=0

	touch "$running"
	HROCE_WHILE=$running HROCE_DEV=nla HROCE_DEV2=nlb timeout 100 "$build/xrc" all_operations &
	pid=$!
	become nla nlb ready && lose "$nsA" ea && become nla used && taken "$nsA" ec && taken "$nsB" ed && find "$nsA" ea &&
		become nla ready && taken "$nsA" ea && taken "$nsB" eb || status=1
	rm "$running"
	wait $pid && [ "$status" = 0 ]
}

# A peer without a second link ignores what it is asked, three times at most (it may not be ready the first time);
# nothing else happens.
alone() {
	local asked before

	second nlb && second nld && second nla nlc || return
	asked=$(counter nlb rx_drop_opcode) before=$(packets "$nsA" ec)
	under_traffic sleep 6 || return
	asked=$(($(counter nlb rx_drop_opcode) - asked))
	echo "asked $asked times, $(($(packets "$nsA" ec) - before)) packets by the second way"
	[ "$traffic_status" = 0 ] && [ "$asked" -ge 1 ] && [ "$asked" -le 3 ] && [ $(($(packets "$nsA" ec) - before)) -lt 100 ]
}

# Without the switch there is nothing new on the wire.
silent_by_default() {
	local before

	second nla && second nlc && second nlb && second nld || return
	before=$(counter nlb rx_drop_opcode)
	under_traffic sleep 2 || return
	[ "$traffic_status" = 0 ] && [ "$(counter nlb rx_drop_opcode)" = "$before" ] && [ -z "$(state nla)" ]
}

# usage: refuses ERROR LINK LINK
refuses() {
	local said

	said=$(second "$2" "$3" 2>&1) && return 1
	echo "$said"
	[[ $said == *"$1"* ]]
}
refusals() {
	refuses 'Invalid argument' nla nla && refuses 'No such device' nla nlx && refuses 'Invalid cross-device link' nla nlb &&
		second nla nlc && [ "$(cat /sys/kernel/debug/hroce/nla/second)" = nlc ] &&
		second nla && [ -z "$(cat /sys/kernel/debug/hroce/nla/second)" ]
}

# A netdev for shorter packets is none for queue pairs with longer ones.
too_narrow() {
	ip -n "$nsA" link set ec mtu 2000 || return
	second nla nlc && under_traffic unused nla
	local status=$?
	ip -n "$nsA" link set ec mtu 4200
	[ "$status$traffic_status" = 00 ]
}

# The first way is cut while a stream takes it, see outage.py; the link is the bound, not the CPU.
outage() {
	local dev

	for dev in ea ec; do
		tc -n "$nsA" qdisc replace dev $dev root netem limit 4000 rate 2gbit ||
			{ tap_not_ok second.outage; find "$nsA" ea; return; }
	done
	tap_stream '' net/outage.py second.outage 15 ea 1 "$nsA" 4000 0 ea ec
	for dev in ea ec; do find "$nsA" $dev; done
}

# Nothing holds the module.
unloads() {
	cleanup
	wait_for 10 gone nla && wait_for 10 gone nld && rmmod hroce
}

two_pairs || { tap_case second.topology false; tap_done; exit 1; }
tap_case second.silent_by_default silent_by_default
tap_case second.refusals refusals
tap_case second.too_narrow too_narrow
all_seconds_on
tap_case second.requests survives breaks_and_returns lose find "$nsA" ea
tap_case second.answers survives breaks_and_returns lose find "$nsB" eb
HROCE_FAMILY=6 tap_case second.requests_ipv6 survives breaks_and_returns lose find "$nsA" ea
tap_case second.netdev_down survives breaks_and_returns down up "$nsA" ea
tap_case second.netdev_of_peer_down survives breaks_and_returns down up "$nsB" eb
outage
tap_case second.both_in_turn survives both_in_turn
tap_case second.flowlets flowlets_there
tap_case second.xrc xrc_goes_on
tap_case second.killed killed
tap_case second.link_removed removed "$nsA" ec nlc rdma link del nlc
tap_case second.link_of_peer_removed removed "$nsB" ed nld rdma link del nld
tap_case second.netdev_deleted removed "$nsA" ec nlc ip -n "$nsA" link del ec
tap_case second.alone alone
second nla && second nlc && second nlb nld && second nld nlb && knob nla elide_icrc N && knob nlb elide_icrc N
tap_stream '' net/second.py "$nsA" "$nsB" 4
tap_case second.unloads unloads
tap_done
