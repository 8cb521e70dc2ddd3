#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Kernel consumers of verbs besides NVMe, between two guests that have been started without hroce (--no-load): SRP, NFS,
# RDS and SMC-R. Node 2 serves, node 1 asks and judges. With HROCE_LOSS both lose packets (lib/lossy.sh).
#
#	others.sh [srp] [nfs] [rds] [smc]
#
#	node 1                          node 2
#	+-----------------------+       +-----------------------+
#	| ulp0 (hroce)          |<----->| ulp0 (hroce)          |
#	| 10.77.0.1             | eth0  | 10.77.0.2             |
#	+-----------------------+       +-----------------------+

cd "$(dirname "$0")/../.." || exit 1
. selftests/lib/tap.sh
. selftests/lib/lossy.sh
. selftests/ulp/lib.sh
. selftests/ulp/srp.sh
. selftests/ulp/nfs.sh

link=ulp0
bytes=$((${ULP_MB:-8} << 20))
own=10.77.0.$NODE
peer=10.77.0.$((3 - NODE))
sockets=selftests/ulp/sockets.py

add_link() {
	modprobe hroce && modprobe -a ib_uverbs rdma_ucm && rdma link add "$link" type hroce netdev eth0
}

# usage: consumer NAME
# Node 2 runs NAME_serve, if there is one NAME_beside, which says when it is ready, and, when node 1 has been through
# NAME_ask, NAME_end with the status of NAME_beside.
consumer() {
	local name=$1 before status=0 pid=

	before=$(resources "$link")
	lossy_mark
	if [ "$NODE" = 2 ]; then
		tap_case "ulp_$name.serve" "$name"_serve
		if declare -F "$name"_beside >/dev/null; then
			coproc "$name"_beside
			pid=$COPROC_PID
			read -r -t 20 <&"${COPROC[0]}" || status=1
		fi
		vm-barrier "$name.up"
		vm-barrier "$name.done" 100
		[ -z "$pid" ] || wait "$pid" || status=$?
		tap_case "ulp_$name.serve_end" "$name"_end "$status"
	else
		vm-barrier "$name.up"
		"$name"_ask
		vm-barrier "$name.done" 100
	fi
	lossy_case "ulp_$name.lost_and_resent_by_$NODE"
	tap_case "ulp_$name.nothing_left_on_$NODE" nothing_left "$link" "$before"
}

srp_serve() {
	local initiator

	initiator=$(vm-get initiator 20) && srp_target_up "$link" $((bytes >> 20)) "$initiator" && vm-put service "$(srp_service)"
}

srp_ask() {
	tap_case ulp_srp.connect srp_connect "$link" "$(vm-get service 20)" "$peer"
	tap_case ulp_srp.io srp_io "$bytes"
	tap_case ulp_srp.disconnect srp_disconnect
}

srp_end() { srp_target_down; }

nfs_serve() { nfs_server_up "$peer"; }

nfs_ask() {
	tap_case ulp_nfs.mount nfs_mount "$own" "$peer"
	tap_case ulp_nfs.io nfs_io "$bytes"
	tap_case ulp_nfs.names nfs_names
	tap_case ulp_nfs.umount nfs_umount
}

nfs_end() { nfs_server_down; }

rds_serve() { modprobe rds_rdma; }
rds_beside() { "$sockets" rds echo "$own"; }

rds_ask() {
	modprobe rds_rdma
	tap_case ulp_rds.messages "$sockets" rds ask "$own" "$peer"
	# Nothing but RDMA carries RDS here; it is no socket of TCP.
	tap_case ulp_rds.over_rdma qp_of rdma_cm
	tap_case ulp_rds.unload modprobe -r rds_rdma rds
}

rds_end() { [ "$1" = 0 ] && modprobe -r rds_rdma rds; }

# usage: qp_of CONSUMER: has it a connected queue pair?
qp_of() { rdma resource show qp link "$link" | grep "type RC state RTS .*\[$1\]"; }

smc_serve() { modprobe smc && "$sockets" eid HROCE-SELFTEST; }
smc_beside() { "$sockets" smc echo "$own"; }

# The server would accept a connection of plain TCP as well, so look who has a queue pair.
smc_stream() {
	local asked status=0 input

	coproc "$sockets" smc ask "$own" "$peer"
	input=${COPROC[1]}
	read -r -t 60 asked <&"${COPROC[0]}" && [ "$asked" = compared ] && qp_of smc || status=1
	exec {input}>&-
	wait "$COPROC_PID" && return "$status"
}

smc_ask() {
	modprobe smc && "$sockets" eid HROCE-SELFTEST
	tap_case ulp_smc.stream smc_stream
	tap_case ulp_smc.unload smc_unload
}

smc_end() { [ "$1" = 0 ] && smc_unload; }

# Queue pairs are kept for ten minutes for the next connection; the module waits for what is under way.
smc_unload() { modprobe -r smc_diag; wait_for 20 modprobe -r smc; }

declare -A modules=([srp]='ib_srp ib_srpt' [nfs]='nfsd nfsv4 rpcrdma' [rds]=rds_rdma [smc]=smc)
consumers=("$@")
[ $# -gt 0 ] || consumers=(srp nfs rds smc)
for name in "${consumers[@]}"; do
	# shellcheck disable=SC2086 # several words
	ulp_need ${modules[$name]}
done
tap_case "ulp_others.add_link_$NODE" add_link
lossy "$link" eth0 || tap_not_ok ulp_others.lossy
[[ $NODE = 2 || " ${consumers[*]} " != *" srp "* ]] || vm-put initiator "$(srp_gid "$link")"
for name in "${consumers[@]}"; do
	consumer "$name"
done
tap_case "ulp_others.del_link_$NODE" rdma link del "$link"
tap_done
