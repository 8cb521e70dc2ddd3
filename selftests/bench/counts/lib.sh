# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What memory.sh and cards.sh share: links of rdma_rxe and of hroce on two netdevs.
#
#   init_net   A's netdev 10.91.0.1 ====== B's netdev 10.91.0.2    rxe0 and rxe1 (rdma_rxe knows no other namespace)
#   counts1    A's netdev 10.92.0.1 ====== B's netdev 10.92.0.2    counts2: hroce0 on A's, hroce1 on B's

# usage: wait_for_gid ADDRESS-PREFIX DEVICE
wait_for_gid() {
	local end=$((SECONDS + 20))

	until grep -qs "$1" "/sys/class/infiniband/$2/ports/1/gids/"*; do
		[ $SECONDS -lt $end ] || { echo "$2 has no address" >&2; exit 1; }
		sleep 0.1
	done
}

# usage: put_rxe_on NETDEV NETDEV
# Make frames between two netdevs of one namespace take the wire: with the table "local" first they would never leave IP.
# Replies have to pass the checks for martians, too.
put_rxe_on() {
	local devs=("$1" "$2") i that dev address

	modprobe rdma_rxe
	for dev in all "$1" "$2"; do
		sysctl -qw "net.ipv4.conf.$dev.rp_filter=0" "net.ipv4.conf.$dev.accept_local=1"
	done
	for i in 1 2; do
		dev=${devs[i - 1]}
		that=$((3 - i))
		address=$(cat "/sys/class/net/${devs[that - 1]}/address")
		ip addr add "10.91.0.$i/24" dev "$dev"
		ip link set "$dev" up
		ip rule add pref 10 iif "$dev" lookup local
		ip rule add pref 20 from "10.91.0.$i" to "10.91.0.$that" lookup 91
		ip neigh replace "10.91.0.$that" lladdr "$address" dev "$dev" nud permanent
		rdma link add "rxe$((i - 1))" type rxe netdev "$dev"
	done
	ip route add 10.91.0.2/32 dev "$1" table 91
	ip route add 10.91.0.1/32 dev "$2" table 91
	ip rule add pref 100 lookup local
	ip rule del pref 0
	wait_for_gid ffff:0a5b rxe0
	wait_for_gid ffff:0a5b rxe1
}

# usage: take_rxe_off NETDEV NETDEV: undo that
take_rxe_off() {
	rdma link del rxe0
	rdma link del rxe1
	ip rule add pref 0 lookup local
	ip rule del pref 100
	while ip rule del pref 10 2>/dev/null || ip rule del pref 20 2>/dev/null; do :; done
	ip addr flush dev "$1"
	ip addr flush dev "$2"
}

# usage: put_hroce_on NETDEV NETDEV: they are moved to namespaces of their own
put_hroce_on() {
	local devs=("$1" "$2") addresses=() i that

	modprobe hroce
	for i in 1 2; do
		addresses+=("$(cat "/sys/class/net/${devs[i - 1]}/address")")
		ip netns add "counts$i"
		ip link set "${devs[i - 1]}" netns "counts$i"
		ip -n "counts$i" link set lo up
		ip -n "counts$i" addr add "10.92.0.$i/24" dev "${devs[i - 1]}"
		ip -n "counts$i" link set "${devs[i - 1]}" up
	done
	for i in 1 2; do
		that=$((3 - i))
		# A neighbour that is being confirmed costs one per cent.
		ip -n "counts$i" neigh replace "10.92.0.$that" lladdr "${addresses[that - 1]}" dev "${devs[i - 1]}" nud permanent
		ip netns exec "counts$i" rdma link add "hroce$((i - 1))" type hroce netdev "${devs[i - 1]}"
	done
	wait_for_gid ffff:0a5c hroce0
	wait_for_gid ffff:0a5c hroce1
}
