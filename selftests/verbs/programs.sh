#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Unchanged programs of the distribution over XRC, between two links.
#
#	namespace A: nla on ea <----- veth -----> namespace B: nlb on eb

. "$(dirname "$0")/../net/lib.sh"

# usage: listens PORT: does somebody in namespace A wait for connections?
listens() { ip netns exec "$nsA" ss -Hltn "sport = $1" | grep -q .; }

# usage: pair PORT SERVER-COMMAND -- CLIENT-COMMAND: both must succeed; with port 0 the client has to be patient
pair() {
	local port=$1 server=() log=/tmp/server-$id

	shift
	while [ "$1" != -- ]; do server+=("$1"); shift; done
	shift
	ip netns exec "$nsA" timeout 30 "${server[@]}" >"$log" 2>&1 &
	[ "$port" = 0 ] || wait_for 10 listens "$port" || { cat "$log"; return 1; }
	ip netns exec "$nsB" timeout 30 "$@" || { cat "$log"; return 1; }
	wait $! || { cat "$log"; return 1; }
}

# usage: perftest PROGRAM OPTIONS...
perftest() {
	local program=$1

	shift
	pair 18515 "$program" -d nla -x 1 -F -c XRC -n 100 "$@" -- \
		"$program" -d nlb -x 1 -F -c XRC -n 100 "$@" 10.90.0.1
}

# Without a domain of its own making: the connection manager's.
xclient() {
	pair 0 rdma_xserver -c x -- bash -c \
		'for i in 1 2 3 4 5 6 7 8 9 10; do rdma_xclient -s 10.90.0.1 -c x && exit; sleep 0.2; done; exit 1'
}

modprobe -a rdma_ucm ib_uverbs
tap_case links two_ends 4200
tap_case ibv_xsrq_pingpong pair 18515 ibv_xsrq_pingpong -d nla -g 1 -n 200 -- \
	ibv_xsrq_pingpong -d nlb -g 1 -n 200 10.90.0.1
tap_case rdma_xclient xclient
tap_case ib_send_bw perftest ib_send_bw -s 20000
tap_case ib_write_bw perftest ib_write_bw -q 4 -s 4096
tap_case ib_read_bw perftest ib_read_bw -s 20000
tap_case ib_atomic_bw perftest ib_atomic_bw
tap_done
