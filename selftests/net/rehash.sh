#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# One of several equal ways through the network breaks, and no device notices: queue pairs that used it go on by another.
#
# Bonds that choose one of four veth pairs by addresses and ports:
#
#	namespace A: nla on ba <==== 0 1 2 3 ====> namespace B: nlb on bb
#
# Routers that choose one of four by the same, or by flow labels:
#
#	namespace A            namespace R             namespace S            namespace B
#	nla on ea <--- veth ---> router <== 0 1 2 3 ==> router <--- veth ---> nlb on eb

. "$(dirname "$0")/lib.sh"

nsR=neR-$id
nsS=neS-$id

# usage: ways NAMESPACE PREFIX NAMESPACE PREFIX: four veth pairs; breaking one needs a queue that is not there yet
ways() {
	local i

	for i in 0 1 2 3; do
		ip link add "$2$i" netns "$1" mtu 4200 type veth peer name "$4$i" netns "$3" mtu 4200 || return
	done
	from_ns=$1 from_dev=$2 to_ns=$3 to_dev=$4
}

# usage: bond NAMESPACE NAME PREFIX
bond() {
	local i

	ip -n "$1" link add "$2" mtu 4200 type bond mode balance-xor xmit_hash_policy layer3+4 || return
	for i in 0 1 2 3; do ip -n "$1" link set "$3$i" master "$2" || return; done
}

bonds_up() {
	new_ns "$nsA" && new_ns "$nsB" && ways "$nsA" pa "$nsB" pb && bond "$nsA" ba pa && bond "$nsB" bb pb &&
		address "$nsA" ba 1 && address "$nsB" bb 2 && reaches "$nsA" 10.90.0.2 fd90::2 &&
		add_link "$nsA" nla ba && add_link "$nsB" nlb bb
}

# usage: router NAMESPACE NETDEV NET PREFIX NUMBER NET: to NET there are four routes, the neighbour's number is the other
router() {
	local ns=$1 i hops4=() hops6=()

	ip netns exec "$ns" sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 \
		net.ipv4.fib_multipath_hash_policy=1 net.ipv6.fib_multipath_hash_policy=1 || return
	address "$ns" "$2" 254 "$3" || return
	for i in 0 1 2 3; do
		address "$ns" "$4$i" "$5" "6$i" || return
		hops4+=(nexthop via "10.6$i.0.$((3 - $5))")
		hops6+=(nexthop via "fd6$i::$((3 - $5))")
	done
	ip -n "$ns" route add "10.$6.0.0/24" "${hops4[@]}" && ip -n "$ns" -6 route add "fd$6::/64" "${hops6[@]}"
}

routers_up() {
	local ns

	for ns in "$nsA" "$nsR" "$nsS" "$nsB"; do new_ns "$ns" || return; done
	ip link add ea netns "$nsA" mtu 4200 type veth peer name ra netns "$nsR" mtu 4200 &&
		ip link add eb netns "$nsB" mtu 4200 type veth peer name sb netns "$nsS" mtu 4200 &&
		ways "$nsR" rs "$nsS" sr && router "$nsR" ra 91 rs 1 92 && router "$nsS" sb 92 sr 2 91 &&
		address "$nsA" ea 1 91 && address "$nsB" eb 1 92 &&
		ip -n "$nsA" route add default via 10.91.0.254 && ip -n "$nsA" -6 route add default via fd91::254 &&
		ip -n "$nsB" route add default via 10.92.0.254 && ip -n "$nsB" -6 route add default via fd92::254 &&
		reaches "$nsA" 10.92.0.1 fd92::1 && add_link "$nsA" nla ea && add_link "$nsB" nlb eb
}

# usage: packets NAMESPACE NETDEV: that it has sent
packets() { ip netns exec "$1" cat "/sys/class/net/$2/statistics/tx_packets"; }

# usage: busiest NAMESPACE PREFIX: the number of the way that carries the traffic
busiest() {
	local i was=() best=0 at=0 n

	for i in 0 1 2 3; do was[i]=$(packets "$1" "$2$i"); done
	sleep 0.5
	for i in 0 1 2 3; do
		n=$(($(packets "$1" "$2$i") - was[i]))
		[ $n -le $best ] || best=$n at=$i
	done
	echo "$at"
}

# usage: break_way NAMESPACE PREFIX: the one in use, in this direction; it loses all, and nobody is told
break_way() {
	broken_ns=$1
	broken_dev=$2$(busiest "$1" "$2")
	tc -n "$1" qdisc add dev "$broken_dev" root netem loss 100% limit 100000
}

repair() { tc -n "$broken_ns" qdisc del dev "$broken_dev" root; }

# Nobody sends by the broken way any more, and it goes on: a thousand packets more.
goes_on() {
	local before

	before=$(counter nlb rx_packets)
	wait_for 20 grows nlb rx_packets "$before" 1000
}

# Of requests, then of answers.
break_forward() { break_way "$from_ns" "$from_dev" && goes_on; }
break_backward() { break_way "$to_ns" "$to_dev" && goes_on; }

# usage: rehashed LINK FUNCTION: traffic survives FUNCTION, and the sender of what was lost has taken other ways
rehashed() {
	local before

	before=$(counter "$1" rehashes)
	under_traffic "$2" || return
	repair
	echo "$1: $(($(counter "$1" rehashes) - before)) times another way;" \
		"recoveries of nla: $(grep . /sys/class/infiniband/nla/ports/1/hw_counters/recovery_* | sed 's/.*_\([lg][et]_\)/\1/' | tr '\n' ' ')"
	[ "$traffic_status" = 0 ] && [ "$(counter "$1" rehashes)" -gt "$before" ]
}

# Its status is that of traffic which has given up.
is_lost() { wait_for 20 bash -c "! pgrep -x vt_traffic"; }
break_for_good() { break_way "$from_ns" "$from_dev" && is_lost; }

# The switch is off: the rig shows that traffic ends.
without_rehash() {
	knob nla rehash N || return
	vt_options='-e 10 -r 3' under_traffic break_for_good
	repair
	knob nla rehash Y
	[ "$traffic_status" = 2 ]
}

# usage: spreads NAMESPACE PREFIX: more than one way carries hundreds of its packets in half a second. Ports are drawn, so two
# of four may be one way.
spreads() {
	local i n was=()

	for i in 0 1 2 3; do was[i]=$(packets "$1" "$2$i"); done
	sleep 0.5
	nr_ways=0
	for i in 0 1 2 3; do
		n=$(($(packets "$1" "$2$i") - was[i]))
		[ $n -lt 200 ] || nr_ways=$((nr_ways + 1))
	done
	[ $nr_ways -ge 2 ]
}

# usage: status 9: all have met on one way, which waiting does not change
spreads_and_breaks() {
	wait_for 8 spreads "$from_ns" "$from_dev" || return 9
	echo "requests take $nr_ways of 4 ways"
	break_forward
}

# usage: sprayed: requests of one queue pair take several ways, one of which breaks
sprayed() {
	local agreed evicted status turn

	agreed=$(counter nla sprayed)
	evicted=$(counter nla rehashes)
	knob nla spray 4 || return
	for turn in 1 2 3; do
		status=0
		vt_options='-x 400000 -w 16' under_traffic spreads_and_breaks || status=$?
		[ $status = 9 ] || break
		echo "turn $turn: one way for all"
	done
	[ $status = 0 ] || return
	repair
	knob nla spray 1
	echo "spraying queue pairs: $(($(counter nla sprayed) - agreed)), new ports: $(($(counter nla rehashes) - evicted))," \
		"resent: $(counter nla holes_resent), peer: $(counter nlb sprayed)"
	[ "$traffic_status" = 0 ] && [ "$(counter nla sprayed)" -gt "$agreed" ] && [ "$(counter nlb sprayed)" = 0 ]
}

# Answers to READs take the ways of their requests, if several are wanted; one of them breaks.
answers_spread() {
	local turn

	stream_begins read nla || return
	! wait_for 3 spreads "$to_ns" "$to_dev" || { echo "answers take $nr_ways ways"; return 1; }
	stream_ends
	knob nla spray 4 || return
	# Ports that have met on one way are drawn anew.
	for turn in 1 2 3; do
		stream_begins read nla || return
		! wait_for 8 spreads "$to_ns" "$to_dev" || break
		[ "$turn" -lt 3 ] && stream_ends || return
	done
	echo "answers take $nr_ways of 4 ways"
	break_way "$to_ns" "$to_dev"
	wait_for 20 grows nla rx_packets "$(counter nla rx_packets)" 1000 && kill -0 $streamer || return
	stream_ends
	repair
	knob nla spray 1
}

# usage: way_marks NAMESPACE NETDEV: what comes by it has met congestion, and nothing waits
way_marks() {
	ip netns exec "$1" nft -f - <<-NFT
	table netdev m {
		chain c {
			type filter hook ingress device $2 priority 0; policy accept;
			ip ecn ect0 udp dport 4791 ip ecn set ce
		}
	}
	NFT
}

# usage: carried NAMESPACE PREFIX: packets on each way in half a second, in carried; all of them in carried_all
carried() {
	local i was=()

	for i in 0 1 2 3; do was[i]=$(packets "$1" "$2$i"); done
	sleep 0.5
	carried_all=0
	for i in 0 1 2 3; do
		carried[i]=$(($(packets "$1" "$2$i") - was[i]))
		carried_all=$((carried_all + carried[i]))
	done
}

# usage: rarest NAMESPACE PREFIX: the way that carries the least, but a tenth; half of four ways take it at most
rarest() {
	local i

	carried "$1" "$2"
	at=
	for i in 0 1 2 3; do
		[ $((10 * carried[i])) -gt $carried_all ] || continue
		[ -n "$at" ] && [ "${carried[i]}" -gt "${carried[at]}" ] || at=$i
	done
	[ $carried_all -ge 1000 ] && [ -n "$at" ]
}

# usage: is_left NAMESPACE PREFIX NUMBER: others carry a hundred times as much
is_left() {
	carried "$1" "$2"
	[ $carried_all -ge 1000 ] && [ $((100 * carried[$3])) -le $carried_all ]
}

# usage: marked OPERATION LINK FROM-NS FROM-DEV TO-NS TO-DEV: data to LINK leave the one of several ways that is marked. A
# way that is replaced for another reason just then tells nothing: another one is tried.
marked() {
	local at cnps ports tries

	knob nla spray 4 && stream_begins "$1" "$2" || return
	for tries in 1 2 3 4 5; do
		wait_for 20 rarest "$3" "$4" || return
		cnps=$(counter "$2" np_cnp_sent) ports=$(counter nla rehashes)
		way_marks "$5" "$6$at" && wait_for 20 is_left "$3" "$4" "$at" || return
		ip netns exec "$5" nft flush ruleset
		cnps=$(($(counter "$2" np_cnp_sent) - cnps)) ports=$(($(counter nla rehashes) - ports))
		echo "attempt $tries: $cnps CNPs, $ports new ports"
		[ $cnps = 0 ] || break
	done
	stream_ends
	knob nla spray 1
	[ $cnps -gt 0 ] && [ $ports -gt 0 ]
}

# Ways are slow, so that packets wait; then they are not.
flowlets() {
	local i was kept

	for i in 0 1 2 3; do tc -n "$nsA" qdisc add dev "pa$i" root tbf rate 200mbit burst 70000 limit 10m || return; done
	# Slow ways may be silent for so long that a port is drawn for that.
	knob nla rehash N && knob nlb rehash N || return
	stream_begins write nlb || return
	was=$(sport) kept=$(counter nlb kept)
	! pauses rehashes 10 && [ "$(sport)" = "$was" ] && knob nla flowlet Y && pauses rehashes 40 &&
		[ "$(sport)" != "$was" ] || return
	stream_ends
	for i in 0 1 2 3; do tc -n "$nsA" qdisc del dev "pa$i" root || return; done
	[ "$(counter nlb kept)" = "$kept" ] || { echo "packets have overtaken others"; return 1; }
	knob nla flowlet N && knob nla rehash Y && knob nlb rehash Y
}

# Who is not asked to does not spray.
one_way() { [ "$(counter nla sprayed)" = 0 ] && [ "$(counter nlb sprayed)" = 0 ]; }

# usage: outage NAME MILLISECONDS DELAY RATE LEAST: a way is cut while a stream takes it, see outage.py
outage() {
	local i

	for i in 0 1 2 3; do
		tc -n "$nsA" qdisc replace dev "pa$i" root netem limit 4000 delay "$3us" rate "$4" ||
			{ tap_not_ok "bonds.$1"; return; }
	done
	tap_stream '' net/outage.py "bonds.$1" "$2" '' "$5" "$nsA" 4000 "$3" pa0 pa1 pa2 pa3
	for i in 0 1 2 3; do tc -n "$nsA" qdisc del dev "pa$i" root; done
}

# usage: cases NAME
cases() {
	tap_case "$1.requests" rehashed nla break_forward
	tap_case "$1.answers" rehashed nlb break_backward
	tap_case "$1.switched_off" without_rehash
}

if bonds_up; then
	cases bonds
	tap_case bonds.one_way one_way
	tap_case bonds.sprayed sprayed
	tap_case bonds.answers_spread answers_spread
	tap_case bonds.marked_requests marked write nlb "$from_ns" "$from_dev" "$to_ns" "$to_dev"
	tap_case bonds.marked_answers marked read nla "$to_ns" "$to_dev" "$from_ns" "$from_dev"
	tap_case bonds.flowlets flowlets
	outage outage 15 0 2gbit 1
	# Two silences, of two round trips and more, and then half a window.
	outage outage_1ms 50 1000 2gbit 1
	knob nla spray 4
	outage outage_sprayed 10 0 1gbit 2
	knob nla spray 1
else
	tap_case bonds.topology false
fi
cleanup
if ! ip route add 10.99.0.0/24 nexthop dev lo nexthop dev lo 2>/dev/null; then
	tap_skip routers.all 'this kernel has no multipath routes'
elif routers_up; then
	ip route del 10.99.0.0/24
	cases routers
	ip netns exec "$nsR" sysctl -qw net.ipv6.fib_multipath_hash_policy=0
	HROCE_FAMILY=6 tap_case routers.flow_labels rehashed nla break_forward
else
	tap_case routers.topology false
fi
tap_done
