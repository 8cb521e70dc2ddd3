#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Links on all kinds of network devices, at all MTUs, with IPv4 and IPv6.
#
#	namespace A                                namespace B
#	nla on ea / ea.7 / bond / bridge / macvlan <--> the same, nlb
#
# For the bridge test a third namespace M sits in the middle and forwards.

. "$(dirname "$0")/lib.sh"

both_families() {
	traffic "$@" || return
	HROCE_FAMILY=6 traffic "$@"
}

# usage: mtu_is LINK BYTES: the port follows its netdev
mtu_is() { HROCE_DEV=$1 ibv_devinfo -d "$1" | grep -q "active_mtu:.*$2 "; }

at_mtu() {
	local path=$2

	ip -n "$nsA" link set ea mtu "$1" && ip -n "$nsB" link set eb mtu "$1" || return
	wait_for 5 mtu_is nla "$path" && wait_for 5 mtu_is nlb "$path" || return
	traffic -n 150
}

# Below 1280 bytes the IPv6 addresses were lost; new ones are as good.
ipv6_only() {
	ip -n "$nsA" address replace fd90::11/64 dev ea nodad && ip -n "$nsB" address replace fd90::12/64 dev eb nodad &&
		reaches "$nsA" fd90::12 || return
	HROCE_FAMILY=6 traffic -n 200 && HROCE_FAMILY=6 traffic -t uc -n 50 && HROCE_FAMILY=6 traffic -t ud -n 50
}

# usage: has_gid LINK END: does a GID of the link end so?
has_gid() { grep -qs "$2\$" "/sys/class/infiniband/$1/ports/1/gids/"*; }

vlan() {
	ip -n "$nsA" link add link ea name ea.7 type vlan id 7 && ip -n "$nsB" link add link eb name eb.7 type vlan id 7 &&
		address "$nsA" ea.7 1 91 && address "$nsB" eb.7 2 91 &&
		add_link "$nsA" nlva ea.7 && add_link "$nsB" nlvb eb.7 && reaches "$nsA" 10.91.0.2 fd91::2 || return
	from=nlva to=nlvb both_families -n 150 || return
	from=nlva to=nlvb traffic -t ud -n 50 || return
	# The link below has other addresses: it sends without a tag.
	has_gid nlva :0a5b:0001 && has_gid nla :0a5a:0001 || return
	expect 1 has_gid nla :0a5b:0001 && expect 1 has_gid nlva :0a5a:0001 || return
	# Both at the same time: the links below are still there.
	from=nlva to=nlvb traffic -n 150 &
	traffic -n 150 && wait $!
}

cm_listens() { rdma resource show cm_id | grep -q LISTEN; }

# usage: rping_to ADDRESS: a connection of rdma_cm, from A to B
rping_to() {
	local status=0

	ip netns exec "$nsB" timeout 40 rping -s -a "$1" -C 5 -V &
	wait_for 10 cm_listens || return
	ip netns exec "$nsA" timeout 30 rping -c -a "$1" -C 5 -V || status=$?
	wait $! && [ "$status" = 0 ]
}

# The only links of their netdevs: ib_core gives those below the same GIDs.
vlan_cm() {
	ip link add vca netns "$nsA" mtu 4200 type veth peer name vcb netns "$nsB" mtu 4200 &&
		ip -n "$nsA" link set vca up && ip -n "$nsB" link set vcb up &&
		ip -n "$nsA" link add link vca name vca.8 type vlan id 8 &&
		ip -n "$nsB" link add link vcb name vcb.8 type vlan id 8 &&
		address "$nsA" vca.8 1 98 && address "$nsB" vcb.8 2 98 &&
		add_link "$nsA" nlda vca.8 && add_link "$nsB" nldb vcb.8 && reaches "$nsA" 10.98.0.2 fd98::2 &&
		rping_to 10.98.0.2 && rping_to fd98::2
}

bond() {
	local i

	ip -n "$nsA" link add bda type bond mode active-backup miimon 50 &&
		ip -n "$nsB" link add bdb type bond mode active-backup miimon 50 || return
	for i in 1 2; do
		ip link add "pa$i" netns "$nsA" mtu 4200 type veth peer name "pb$i" netns "$nsB" mtu 4200 &&
			ip -n "$nsA" link set "pa$i" master bda && ip -n "$nsB" link set "pb$i" master bdb || return
	done
	address "$nsA" bda 1 92 && address "$nsB" bdb 2 92 && add_link "$nsA" nlba bda && add_link "$nsB" nlbb bdb &&
		reaches "$nsA" 10.92.0.2 fd92::2 || return
	from=nlba to=nlbb both_families -n 150 || return
	# The active port goes down, the other takes over.
	from=nlba to=nlbb vt_options="-e 15" under_traffic ip -n "$nsA" link set pa1 down || return
	[ "$traffic_status" = 0 ]
}

# A bridge that only forwards, and bridges that carry the links themselves.
bridge() {
	local m=neM-$id end

	new_ns "$m" && ip -n "$m" link add br0 type bridge && ip -n "$m" link set br0 up || return
	for end in A B; do
		local ns=nsA
		[ $end = A ] || ns=nsB
		ip link add "q$end" netns "${!ns}" mtu 4200 type veth peer name "m$end" netns "$m" mtu 4200 &&
			ip -n "$m" link set "m$end" master br0 up || return
	done
	ip -n "$m" link set br0 mtu 4200
	ip -n "$nsA" link add bra type bridge && ip -n "$nsA" link set qA master bra up &&
		ip -n "$nsA" link set bra mtu 4200 && address "$nsA" bra 1 93 && address "$nsB" qB 2 93 &&
		add_link "$nsA" nlca bra && add_link "$nsB" nlcb qB && reaches "$nsA" 10.93.0.2 fd93::2 || return
	from=nlca to=nlcb both_families -n 150
}

macvlan() {
	ip -n "$nsA" link add mva link ea type macvlan mode bridge && ip -n "$nsB" link add mvb link eb type macvlan &&
		address "$nsA" mva 1 94 && address "$nsB" mvb 2 94 &&
		add_link "$nsA" nlma mva && add_link "$nsB" nlmb mvb && reaches "$nsA" 10.94.0.2 fd94::2 || return
	from=nlma to=nlmb both_families -n 100
}

# Two links of one host talk with each other, and each with itself. The kernel answers no ARP for addresses of its own,
# so the neighbours are told.
two_links_one_host() {
	local h=neH-$id one other

	new_ns "$h" && ip link add ha netns "$h" mtu 4200 type veth peer name hb netns "$h" mtu 4200 &&
		ip netns exec "$h" sysctl -qw net.ipv4.conf.all.accept_local=1 net.ipv4.conf.all.rp_filter=0 &&
		address "$h" ha 1 95 && address "$h" hb 2 95 || return
	one=$(ip netns exec "$h" cat /sys/class/net/ha/address)
	other=$(ip netns exec "$h" cat /sys/class/net/hb/address)
	ip -n "$h" neigh add 10.95.0.2 lladdr "$other" dev ha nud permanent &&
		ip -n "$h" neigh add 10.95.0.1 lladdr "$one" dev hb nud permanent &&
		ip -n "$h" neigh add fd95::2 lladdr "$other" dev ha nud permanent &&
		ip -n "$h" neigh add fd95::1 lladdr "$one" dev hb nud permanent &&
		add_link "$h" nlha ha && add_link "$h" nlhb hb || return
	from=nlha to=nlhb both_families -n 150 || return
	from=nlha to=nlha traffic -n 150 || return
	from=nlha to=nlha HROCE_FAMILY=6 traffic -t ud -n 50
}

# A router in between: other subnets, hop limit, neighbours that are no peers.
routed() {
	local r=neR-$id

	new_ns "$r" && ip netns exec "$r" sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 &&
		ip link add ra netns "$nsA" mtu 4200 type veth peer name r1 netns "$r" mtu 4200 &&
		ip link add rb netns "$nsB" mtu 4200 type veth peer name r2 netns "$r" mtu 4200 &&
		address "$nsA" ra 1 96 && address "$r" r1 254 96 && address "$nsB" rb 1 97 && address "$r" r2 254 97 &&
		ip -n "$nsA" route add 10.97.0.0/24 via 10.96.0.254 && ip -n "$nsB" route add 10.96.0.0/24 via 10.97.0.254 &&
		ip -n "$nsA" -6 route add fd97::/64 via fd96::254 && ip -n "$nsB" -6 route add fd96::/64 via fd97::254 &&
		add_link "$nsA" nlra ra && add_link "$nsB" nlrb rb && reaches "$nsA" 10.97.0.1 fd97::1 || return
	from=nlra to=nlrb both_families -n 150
}

mtu_change_under_traffic() {
	ip -n "$nsA" link set ea mtu 4200 && ip -n "$nsB" link set eb mtu 4200 && wait_for 5 mtu_is nla 4096 || return
	shrink_and_grow() {
		local mtu

		for mtu in 9000 4200 9000 4200; do
			ip -n "$nsA" link set ea mtu $mtu && ip -n "$nsB" link set eb mtu $mtu || return
		done
	}
	vt_options="-m 1024" under_traffic shrink_and_grow && [ "$traffic_status" = 0 ]
}

# Two programs, each in its own namespace, that find each other by TCP; and programs that know nothing of us.
inside_namespaces() {
	ip netns exec "$nsB" env HROCE_DEV=nlb "$build/vt_traffic" -S 18700 -n 100 &
	ip netns exec "$nsA" env HROCE_DEV=nla "$build/vt_traffic" -C 10.90.0.2:18700 -n 100 && wait $!
}

pingpong() {
	index() { HROCE_DEV=$1 ibv_devinfo -v -d "$1" | sed -n 's/.*GID\[ *\([0-9]*\)\].*::ffff:.*/\1/p' | head -1; }
	ip netns exec "$nsB" timeout 60 ibv_rc_pingpong -c -d nlb -g "$(index nlb)" -n 200 -p 18710 &
	wait_for 10 bash -c "ip netns exec $nsB ss -ltn | grep -q :18710" || return
	ip netns exec "$nsA" timeout 60 ibv_rc_pingpong -c -d nla -g "$(index nla)" -n 200 -p 18710 10.90.0.2 && wait $!
}

two_ends 1500 || { tap_case netdevs.topology false; tap_done; exit 1; }
tap_case netdevs.mtu_1500 at_mtu 1500 1024
tap_case netdevs.mtu_9000 at_mtu 9000 4096
tap_case netdevs.mtu_2200 at_mtu 2200 2048
tap_case netdevs.mtu_1280 at_mtu 1280 1024
tap_case netdevs.mtu_576 at_mtu 576 256
tap_case netdevs.mtu_4200 at_mtu 4200 4096
tap_case netdevs.ipv6_only ipv6_only
tap_case netdevs.vlan vlan
tap_case netdevs.vlan_cm vlan_cm
tap_case netdevs.bond bond
tap_case netdevs.bridge bridge
tap_case netdevs.macvlan macvlan
tap_case netdevs.two_links_one_host two_links_one_host
tap_case netdevs.routed routed
tap_case netdevs.mtu_change_under_traffic mtu_change_under_traffic
tap_case netdevs.inside_namespaces inside_namespaces
tap_case netdevs.pingpong pingpong
tap_done
