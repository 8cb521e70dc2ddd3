#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A link over two netdevs, a bond in each mode of its driver: connections go on when one netdev dies, when it returns, and
# when the other one dies, see bonds.py.
#
#	namespace A: nla on ba <==== 0 1 ====> namespace B: nlb on bb
#
# Where each port has a MAC address of its own there is a switch, so one end may lose a port without the other:
#
#	namespace A              namespace S             namespace B
#	nla on ba <== 0 1 ==> sa   bridge   sb <== 0 1 ==> nlb on bb

. "$(dirname "$0")/lib.sh"

nsS=neS-$id

# usage: pairs NAMESPACE PREFIX NAMESPACE PREFIX
pairs() {
	local i

	for i in 0 1; do
		ip link add "$2$i" netns "$1" mtu 4200 type veth peer name "$4$i" netns "$3" mtu 4200 || return
	done
}

switch() {
	local dev

	new_ns "$nsS" && ip -n "$nsS" link add br0 mtu 4200 type bridge && ip -n "$nsS" link set br0 up &&
		pairs "$nsA" pa "$nsS" sa && pairs "$nsB" pb "$nsS" sb || return
	for dev in sa0 sa1 sb0 sb1; do ip -n "$nsS" link set "$dev" master br0 up || return; done
}

# usage: bond NAMESPACE NAME PREFIX MODE OPTIONS...
bond() {
	local i

	ip -n "$1" link add "$2" mtu 4200 type bond miimon 50 mode "${@:4}" || return
	for i in 0 1; do ip -n "$1" link set "$3$i" master "$2" || return; done
}

# usage: topology MODE [OPTIONS...]
topology() {
	new_ns "$nsA" && new_ns "$nsB" || return
	case $1 in
	balance-tlb | balance-alb) switch && die=("$nsS/sa" "$nsS/sa" "$nsS/sb" "$nsS/sb") ;;
	*) pairs "$nsA" pa "$nsB" pb && die=("$nsB/pb" "$nsA/pa") ;;
	esac && bond "$nsA" ba pa "$@" && bond "$nsB" bb pb "$@" && address "$nsA" ba 1 && address "$nsB" bb 2 &&
		reaches "$nsA" 10.90.0.2 fd90::2 && add_link "$nsA" nla ba && add_link "$nsB" nlb bb
}

# Of two ports that take turns, one is slower: packets overtake others. netem wants ICRCs, the other port alone would not.
slower() {
	knob nla elide_icrc N && knob nlb elide_icrc N && tc -n "$nsA" qdisc add dev pa1 root netem delay 200us &&
		tc -n "$nsB" qdisc add dev pb1 root netem delay 200us
}

# usage: bonds MODE [OPTIONS...]
bonds() {
	if topology "$@" && { [ "$1" != balance-rr ] || slower; }; then
		tap_stream '' net/bonds.py "$1" "$nsA" "$nsB" "${die[@]}"
	else
		tap_not_ok "bonds.$1_topology"
	fi
	cleanup
}

bonds balance-rr
bonds active-backup
bonds balance-xor xmit_hash_policy layer3+4
bonds broadcast
bonds 802.3ad xmit_hash_policy layer3+4 lacp_rate fast
bonds balance-tlb
bonds balance-alb
tap_done
