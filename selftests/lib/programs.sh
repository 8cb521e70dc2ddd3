# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For scripts that run programs of others over a link. Source it.

# usage: gid_index LINK PREFIX: the index of the first GID that begins so
gid_index() {
	local gid value

	for gid in "/sys/class/infiniband/$1/ports/1/gids/"*; do
		# No process for each of 1,024.
		read -r value 2>/dev/null <"$gid" && [[ $value == "$2"* ]] || continue
		echo "${gid##*/}"
		return
	done
	return 1
}

# usage: received LINK: packets that have arrived, in frames or without
received() { cat "/sys/class/infiniband/$1/ports/1/hw_counters/rx_packets"; }

# usage: tcp_listens PORT
tcp_listens() { ss -Hltn "sport = :$1" | grep -q .; }

# Whether a server waits for connections of rdma_cm.
cm_listens() { rdma resource show cm_id | grep -q LISTEN; }

# usage: is_wanted NAME PATTERN...
# Whether a pattern matches NAME. A pattern that begins with "!" matches the names that the rest does not match.
is_wanted() {
	local name=$1 pattern

	shift
	for pattern; do
		# shellcheck disable=SC2053 # patterns
		if [[ $pattern == !* ]]; then
			[[ $name != ${pattern#!} ]] && return
		else
			[[ $name == $pattern ]] && return
		fi
	done
	return 1
}
