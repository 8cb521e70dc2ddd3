#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# NVMe over RDMA between two guests, which have to be started without hroce (--no-load).
#
#	nodes.sh hroce|rxe
#
#	node 1                            node 2
#	+-------------------------+       +-------------------------+
#	| ulp0 (hroce) 10.77.0.1  |<----->| ulp0 (hroce or rxe)     |
#	|              fd77::1    | eth0  |  10.77.0.2 fd77::2      |
#	+-------------------------+       +-------------------------+
#
# First node 1 is the host and node 2 the target, then the other way round. Who is the host judges.

cd "$(dirname "$0")/../.." || exit 1
. selftests/lib/tap.sh
. selftests/ulp/lib.sh
. selftests/ulp/nvme.sh

link=ulp0
bytes=$((${ULP_MB:-8} << 20))
peer_type=${1:?hroce or rxe}

add_link() {
	local type=hroce

	[ "$NODE" = 1 ] || type=$peer_type
	if [ "$type" = rxe ]; then modprobe rdma_rxe; else modprobe hroce; fi && modprobe -a ib_uverbs rdma_ucm &&
		rdma link add "$link" type "$type" netdev eth0
}

# Our link is away until the host has noticed, then it connects again; whoever does I/O just waits.
link_down() {
	local disk begin io status=0

	disk=$(host_disk) && begin=$(requests "$disk") || return
	blockio -b 65536 -q 8 -n "$bytes" -T 8 "$disk" &
	io=$!
	wait_for 20 requests_beyond "$((begin + 100))" "$disk" || status=1
	ip link set eth0 down && wait_for 40 host_state connecting || status=1
	ip link set eth0 up && wait_for 40 host_state live || status=1
	wait "$io" && [ "$status" = 0 ]
}

# usage: as_host NAME PEER
as_host() {
	local name=nvme_nodes.$1 before

	before=$(resources "$link")
	tap_case "$name.connect" host_connect "10.77.0.$2" reconnect_delay=1 ctrl_loss_tmo=60 keep_alive_tmo=2
	tap_case "$name.io" host_io "$bytes"
	tap_case "$name.fio" host_fio
	tap_case "$name.discard" host_discard
	[ "$peer_type" = rxe ] || tap_case "$name.link_down" link_down
	tap_case "$name.disconnect" host_disconnect
	tap_case "$name.nothing_left" nothing_left "$link" "$before"
}

as_target() {
	local name=nvme_nodes.$1 before

	before=$(resources "$link")
	tap_case "$name.target_up" target_up 64 "10.77.0.$NODE"
	vm-barrier "$1.up"
	vm-barrier "$1.done" 150
	tap_case "$name.target_down" target_down
	tap_case "$name.target_nothing_left" nothing_left "$link" "$before"
}

# usage: session NAME TARGET
session() {
	if [ "$NODE" = "$2" ]; then
		as_target "$1"
	else
		vm-barrier "$1.up"
		as_host "$1" "$2"
		vm-barrier "$1.done" 150
	fi
}

ulp_need nvme-rdma nvmet-rdma null_blk
[ "$peer_type" = hroce ] || ulp_need rdma_rxe
tap_case "nvme_nodes.${peer_type}_add_link_$NODE" add_link
session "to_$peer_type" 2
[ "$peer_type" = hroce ] || session "from_$peer_type" 1
tap_case "nvme_nodes.${peer_type}_del_link_$NODE" rdma link del "$link"
tap_done
