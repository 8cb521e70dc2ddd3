# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Traffic over links on netdevs without a link layer; source it instead of lib.sh. The topology is the caller's:
# link nla in namespace A, nlb in B, nlc in C, on netdevs with MTU 1420 and the addresses of net 88, numbers 1 to 3.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

nsC=neC-$id

# usage: bare_links NETDEV NETDEV NETDEV: give them addresses and links
bare_links() {
	address "$nsA" "$1" 1 88 && address "$nsB" "$2" 2 88 && address "$nsC" "$3" 3 88 &&
		reaches "$nsA" 10.88.0.2 10.88.0.3 fd88::2 fd88::3 &&
		add_link "$nsA" nla "$1" && add_link "$nsB" nlb "$2" && add_link "$nsC" nlc "$3"
}

# usage: peer LINK
peer() {
	local family type

	for family in 4 6; do
		for type in rc uc ud; do
			to=$1 HROCE_FAMILY=$family traffic -t $type -n 50 -e 18 || return
		done
	done
}

both_at_once() {
	to=nlb traffic -n 100 -e 18 &
	to=nlc traffic -n 100 -e 18 && wait $!
}

large_messages() { to=nlb traffic -n 20 -x 1048576 -e 18; }

# usage: gid LINK ADDRESS: its index in the table
gid() {
	grep -lix "$2" "/sys/class/infiniband/$1/ports/1/gids/"* 2>/dev/null | sed 's,.*/,,' | grep .
}

listens() { ip netns exec "$1" ss -Hltn "sport = :$2" | grep -q .; }

# usage: pingpong GID GID: from A, with the first one, to B, with the second
pingpong() {
	local status server from to

	from=$(gid nla "$1") && to=$(gid nlb "$2") || return
	ip netns exec "$nsB" timeout 30 ibv_rc_pingpong -d nlb -g "$to" -n 10 >/dev/null 2>&1 &
	server=$!
	wait_for 10 listens "$nsB" 18515 &&
		ip netns exec "$nsA" timeout 20 ibv_rc_pingpong -d nla -g "$from" -n 10 10.88.0.2
	status=$?
	[ "$status" = 0 ] || kill "$server" 2>/dev/null
	wait "$server" 2>/dev/null
	return "$status"
}

# The first addresses, and those that are added later.
gid_a4=0000:0000:0000:0000:0000:ffff:0a58:0001
gid_b4=0000:0000:0000:0000:0000:ffff:0a58:0002
gid_new4=0000:0000:0000:0000:0000:ffff:0a58:0009
gid_b6=fd88:0000:0000:0000:0000:0000:0000:0002
gid_new6=fd88:0000:0000:0000:0000:0000:0000:0009

new_addresses_carry() { pingpong "$gid_new4" "$gid_b4" && pingpong "$gid_new6" "$gid_b6"; }
new_addresses_refused() { ! pingpong "$gid_new4" "$gid_b4" && ! pingpong "$gid_new6" "$gid_b6"; }
first_address_carries() { pingpong "$gid_a4" "$gid_b4"; }

# usage: new_addresses NETDEV add|del: of A, after its link
new_addresses() {
	ip -n "$nsA" address "$2" 10.88.0.9/24 dev "$1" || return
	case $2 in
	add) ip -n "$nsA" address add fd88::9/64 dev "$1" nodad ;;
	del) ip -n "$nsA" address del fd88::9/64 dev "$1" ;;
	esac
}

# usage: addresses_come_and_go NETDEV
addresses_come_and_go() {
	new_addresses "$1" add && wait_for 20 new_addresses_carry || return
	new_addresses "$1" del && wait_for 20 new_addresses_refused && first_address_carries || return
	new_addresses "$1" add && wait_for 20 new_addresses_carry && first_address_carries
}
