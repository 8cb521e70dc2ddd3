#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# usage: cards.sh CARD,... MTU,... PROGRAMS SYSTEM...
#
# Inside a guest with two emulated cards of each kind, as "run -T cards" makes it: let each pair work with the stock
# kernel's own driver, at these MTUs, and leave windows and kallsyms in $VM_OUT as memory.sh does. The cards' addresses
# are 52:54:00:9N:00:01 and ...:02, with N from 1 in the order of the list below.

set -eu
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../../lib/way.sh"
chosen=,$1,
IFS=, read -ra mtus <<<"$2"
programs=$3
tool=$(dirname "$0")/../../../user/tool/hroce
shift 3
systems=" $* "
bytes=1048576

# Names of topologies, and drivers. "plain" has nothing offloaded.
cards=(e1000e vmxnet3 virtio plain)
drivers=(e1000e vmxnet3 virtio_net virtio_net)

# usage: wants SYSTEM
wants() {
	[[ $systems == *" $1 "* ]]
}

# usage: set_mtu MTU NETDEV [NAMESPACE]: a card whose ring changes is without a link for some time
set_mtu() {
	local ip=(ip ${3:+-n "$3"}) end=$((SECONDS + 20))

	"${ip[@]}" link set "$2" mtu "$1"
	sleep 0.5
	until "${ip[@]}" link show "$2" | grep -q 'state UP'; do
		[ $SECONDS -lt $end ] || { echo "$2 does not come up" >&2; exit 1; }
		sleep 0.1
	done
}

# usage: keep_tags NETDEV NAMESPACE: a card that takes VLAN tags off cannot have XDP
keep_tags() {
	! ip netns exec "$2" ethtool -k "$1" | grep -q '^rx-vlan-offload: on$' ||
		ip netns exec "$2" ethtool -K "$1" rxvlan off
}

# usage: switch_xdp on|off: both links
switch_xdp() {
	ip netns exec counts1 "$tool" xdp hroce0 "$1" >&2 && ip netns exec counts2 "$tool" xdp hroce1 "$1" >&2
}

# usage: run_card NAME NETDEV NETDEV
run_card() {
	local card=$1 a=$2 b=$3 mtu

	if wants rxe; then
		put_rxe_on "$a" "$b"
		for mtu in "${mtus[@]}"; do
			set_mtu "$mtu" "$a"
			set_mtu "$mtu" "$b"
			"$programs/load" rxe "${card}_$mtu" rxe0 rxe1 $bytes
		done
		take_rxe_off "$a" "$b"
	fi
	put_hroce_on "$a" "$b"
	for mtu in "${mtus[@]}"; do
		set_mtu "$mtu" "$a" counts1
		set_mtu "$mtu" "$b" counts2
		! wants hroce || "$programs/load" hroce "${card}_$mtu" hroce0 hroce1 $bytes
		if wants xdp; then
			keep_tags "$a" counts1
			keep_tags "$b" counts2
			switch_xdp on
			"$programs/load" xdp "${card}_$mtu" hroce0 hroce1 $bytes
			switch_xdp off
		fi
		! wants tcp || "$programs/tcp" "${card}_$mtu" counts1 10.92.0.1 counts2 10.92.0.2 $bytes
	done
	ip netns del counts1
	ip netns del counts2
}

for ((i = 0; i < ${#cards[@]}; i++)); do
	[[ $chosen == *,${cards[i]},* ]] || continue
	modprobe "${drivers[i]}"
	a=$(find_netdev "52:54:00:9$((i + 1)):00:01")
	b=$(find_netdev "52:54:00:9$((i + 1)):00:02")
	if [ "${cards[i]}" = plain ]; then
		for netdev in "$a" "$b"; do
			ethtool -K "$netdev" tx off rx off sg off gso off tso off gro off
		done
	fi
	run_card "${cards[i]}" "$a" "$b" >>"$VM_OUT/windows"
done
cat /proc/kallsyms >"$VM_OUT/kallsyms"
