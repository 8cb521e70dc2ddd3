#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Kernel consumers of verbs on one link that talks to itself: NVMe over RDMA, host and target in one guest. With
# HROCE_LOSS (lib/lossy.sh) only what moves data.
#
#	nvme-rdma  <--->  hroce0 10.77.0.1  <--->  nvmet-rdma  ---  null_blk

cd "$(dirname "$0")/../.." || exit 1
. selftests/lib/tap.sh
. selftests/lib/lossy.sh
. selftests/ulp/lib.sh
. selftests/ulp/nvme.sh

link=hroce0
bytes=$((${ULP_MB:-8} << 20))

cleanup() {
	host_disconnect
	target_down
} >/dev/null 2>&1

# usage: session NAME ADDRESS [OPTION=VALUE...]
# All of it, from connecting to the proof that nothing is left.
session() {
	local name=nvme_self.$1 failures=$tap_failures before

	shift
	before=$(resources "$link")
	lossy_mark
	tap_case "$name.connect" host_connect "$@"
	[ "$tap_failures" = "$failures" ] || return
	tap_case "$name.io" host_io "$bytes"
	[ -z "${HROCE_LOSS:-}" ] || tap_case "$name.fio" host_fio
	tap_case "$name.discard" host_discard
	lossy_case "$name.lost_and_resent"
	tap_case "$name.disconnect" host_disconnect
	tap_case "$name.nothing_left" nothing_left "$link" "$before"
}

has_ended() { ! kill -0 "$1"; }

# The link goes away under its users: requests fail, nothing hangs, the module can go as well.
del_in_use() {
	local disk begin io status=0

	disk=$(host_disk) && begin=$(requests "$disk") || return
	blockio -b 65536 -q 16 -n "$bytes" -T 60 "$disk" &
	io=$!
	wait_for 20 requests_beyond "$((begin + 100))" "$disk" || return
	dmesg -C
	rdma link del "$link" || return
	# A host that has lost its connection just before would look for the target for ten minutes.
	wait_for 60 has_ended "$io" || { dmesg | head -n 40; host_disconnect; wait "$io"; return 1; }
	wait "$io" || status=$?
	[ "$status" = 2 ] || { echo "blockio ended with $status instead of an I/O error"; return 1; }
	wait_for 20 host_gone && modprobe -r nvme-rdma && target_down && rmmod hroce
}

# ib_core takes memory regions for the target's transfers as well, if told so when it is loaded.
reload_force_mr() {
	modprobe -r rdma_ucm ib_umad ib_uverbs iw_cm ib_cm || return
	# A part of ib_uverbs that newer kernels have.
	[ ! -e /sys/module/ib_uverbs_support ] || modprobe -r ib_uverbs_support || return
	! lsmod | grep ib_core && modprobe ib_core force_mr=1 &&
		modprobe -a ib_uverbs rdma_ucm && modprobe hroce && rdma link add "$link" type hroce netdev eth0
}

trap cleanup EXIT
ulp_need nvme-rdma nvmet-rdma null_blk
tap_case nvme_self.target_up target_up 64 10.77.0.1 fd77::1
[ "$tap_failures" = 0 ] || { tap_done; exit 1; }
if [ -n "${HROCE_LOSS:-}" ]; then
	lossy "$link" lo >/dev/null || tap_not_ok nvme_self.lossy
	session loss 10.77.0.1
	tap_case nvme_self.target_down target_down
	tap_done
	exit
fi
session ipv4 10.77.0.1
session ipv6 fd77::1 queue_size=16 nr_io_queues=1
# Plain DMA memory, addressed by the key of the protection domain, where that will do.
nvme_params=register_always=N session global_key 10.77.0.1
tap_case nvme_self.target_down target_down
nvmet_params=use_srq=1 tap_case nvme_self.target_up_srq target_up 64 10.77.0.1
session srq 10.77.0.1
tap_case nvme_self.del_in_use.connect host_connect 10.77.0.1
tap_case nvme_self.del_in_use del_in_use
if [ -e /sys/module/ib_core/initstate ]; then
	tap_case nvme_self.reload_force_mr reload_force_mr
	tap_case nvme_self.target_up_force_mr target_up 64 10.77.0.1
	session force_mr 10.77.0.1
	tap_case nvme_self.target_down_force_mr target_down
else
	tap_skip nvme_self.force_mr "ib_core is built in"
fi
tap_done
