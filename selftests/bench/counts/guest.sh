#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# usage: guest.sh LOAD SYSTEM...
#
# Inside a guest: set the links of each system up, work on them, and leave in $VM_OUT
#   windows	a line for each window: system, topology, workload, size, messages
#   kallsyms	where the functions of the kernel are, modules included
#
#   init_net   va 10.91.0.1 ====== vb 10.91.0.2    rxe0 on va, rxe1 on vb (rdma_rxe knows no other namespace)
#   counts1    ha 10.92.0.1 ====== hb 10.92.0.2    counts2: hroce0 on ha, hroce1 on hb

set -eu
load=$1
shift
mtu=9000

# Make frames between the two ends of a veth pair in one namespace take the wire: with the table "local" first they
# would never leave IP. Replies have to pass the checks for martians, too.
set_rxe_up() {
	local i that dev devs=(va vb)

	modprobe rdma_rxe
	ip link add va mtu $mtu address 02:00:00:00:91:01 type veth peer name vb mtu $mtu address 02:00:00:00:91:02
	for dev in all va vb; do
		sysctl -qw "net.ipv4.conf.$dev.rp_filter=0" "net.ipv4.conf.$dev.accept_local=1"
	done
	for i in 1 2; do
		dev=${devs[i - 1]}
		that=$((3 - i))
		ip addr add "10.91.0.$i/24" dev "$dev"
		ip link set "$dev" up
		ip rule add pref 10 iif "$dev" lookup local
		ip rule add pref 20 from "10.91.0.$i" to "10.91.0.$that" lookup 91
		ip neigh replace "10.91.0.$that" lladdr "02:00:00:00:91:0$that" dev "$dev" nud permanent
		rdma link add "rxe$((i - 1))" type rxe netdev "$dev"
	done
	ip route add 10.91.0.2/32 dev va table 91
	ip route add 10.91.0.1/32 dev vb table 91
	ip rule add pref 100 lookup local
	ip rule del pref 0
}

set_hroce_up() {
	local i

	modprobe hroce
	ip netns add counts1
	ip netns add counts2
	ip link add ha mtu $mtu address 02:00:00:00:92:01 netns counts1 type veth \
		peer name hb mtu $mtu address 02:00:00:00:92:02 netns counts2
	ip -n counts1 addr add 10.92.0.1/24 dev ha
	ip -n counts2 addr add 10.92.0.2/24 dev hb
	ip -n counts1 link set ha up
	ip -n counts2 link set hb up
	# A neighbour that is being confirmed costs one per cent.
	ip -n counts1 neigh replace 10.92.0.2 lladdr 02:00:00:00:92:02 dev ha nud permanent
	ip -n counts2 neigh replace 10.92.0.1 lladdr 02:00:00:00:92:01 dev hb nud permanent
	ip -n counts1 link set lo up
	for i in 1 2; do
		ip netns exec "counts$i" rdma link add "hroce$((i - 1))" type hroce netdev "$([ $i = 1 ] && echo ha || echo hb)"
	done
}

# usage: wait_for_gid ADDRESS-PREFIX DEVICE
wait_for_gid() {
	local end=$((SECONDS + 20))

	until grep -qs "$1" "/sys/class/infiniband/$2/ports/1/gids/"*; do
		[ $SECONDS -lt $end ] || { echo "$2 has no address" >&2; exit 1; }
		sleep 0.1
	done
}

# usage: rule HOOK: netfilter accepts what goes to the port, in both namespaces
rule() {
	local i

	for i in 1 2; do
		ip netns exec "counts$i" nft -f - <<-NFT
		table inet counts {
			chain $1 { type filter hook $1 priority 0; policy accept; udp dport 4791 accept; }
		}
		NFT
	done
}

# Both ways compute and check the ICRC on the wire.
run_rxe() {
	set_rxe_up
	wait_for_gid ffff:0a5b rxe0
	wait_for_gid ffff:0a5b rxe1
	"$load" rxe veth rxe0 rxe1
}

run_hroce() {
	local link

	set_hroce_up
	wait_for_gid ffff:0a5c hroce0
	wait_for_gid ffff:0a5c hroce1
	for link in hroce0 hroce1; do
		echo N >"/sys/kernel/debug/hroce/$link/elide_icrc"
	done
	"$load" hroce veth hroce0 hroce1
	echo Y >/sys/kernel/debug/hroce/hroce0/elide_icrc
	"$load" hroce local hroce0 hroce0
	echo N >/sys/kernel/debug/hroce/hroce0/elide_icrc
	rule output
	"$load" hroce rule_out hroce0 hroce1
	rule input
	"$load" hroce rules hroce0 hroce1
	"$load" hroce rules_lo hroce0 hroce0
	for link in hroce0 hroce1; do
		echo N >"/sys/kernel/debug/hroce/$link/strict"
	done
	"$load" hroce unstrict hroce0 hroce1
}

for system; do
	"run_$system" >>"$VM_OUT/windows"
done
cat /proc/kallsyms >"$VM_OUT/kallsyms"
