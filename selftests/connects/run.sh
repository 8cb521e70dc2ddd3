#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Connections that the kernel makes and ends, thousands of them, with rdma_rxe and with hroce: each carries a message,
# and when they are gone nothing is left. How fast that went is said, and nothing asserted: performance.rst has figures.
#
#	run.sh [CONNECTIONS [UNDER-WAY [ROUNDS]]]
#
# To be run without hroce loaded (run --no-load), as rdma_rxe insists on port 4791.

cd "$(dirname "$0")/../.." || exit 1
. selftests/lib/tap.sh

connections=${1:-4000}
under_way=${2:-64}
rounds=${3:-1}
address=10.77.0.1
module=$(dirname "${VM_KO:?}")/selftests/connects/hroce_connects.ko
results=/sys/module/hroce_connects/parameters

# usage: add LINK MODULE TYPE
add() {
	modprobe -a rdma_cm "$2" && rdma link add "$1" type "$3" netdev eth0 &&
		wait_for 10 grep -q '^0000:0000:0000:0000:0000:ffff:0a4d:0001$' -r "/sys/class/infiniband/$1/ports/1/gids"
}

objects() { rdma resource show "$1"; }

connect() {
	local status=0

	insmod "$module" to="$address" connections="$connections" under_way="$under_way" || status=$?
	[ "$status" != 0 ] || for it in up down gone; do printf '%s %d ms, ' $it $(($(<$results/${it}_us) / 1000)); done
	[ "$status" != 0 ] || echo "$(<$results/per_second)/s; create_qp $(<$results/create_ns) ns," \
		"destroy_qp $(<$results/destroy_ns) ns"
	[ "$status" = 0 ] && rmmod hroce_connects
}

# usage: measure LINK
measure() {
	local before

	before=$(objects "$1")
	said=$(connect) || { echo "$said"; dmesg | tail -n 20; return 1; }
	echo "# $1: $said" >&3
	# The connection manager frees what it has of them a little later.
	wait_for 10 [ "$(objects "$1")" = "$before" ] || { echo "before: $before"; objects "$1"; return 1; }
}

exec 3>&1
tap_case connects.add_rxe add rxe0 rdma_rxe rxe
for ((round = 1; round <= rounds; round++)); do tap_case "connects.rxe_$round" measure rxe0; done
tap_case connects.del_rxe rdma link del rxe0
tap_case connects.add_hroce add hroce0 hroce hroce
for ((round = 1; round <= rounds; round++)); do tap_case "connects.hroce_$round" measure hroce0; done
tap_case connects.del_hroce rdma link del hroce0
tap_done
