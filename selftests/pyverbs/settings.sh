#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rdma-core's suite has both sides of a test in one process and on one device. So run it on one link, with each way that
# packets may take there: from memory to memory, and as frames with an ICRC, cut by the device or by us. Of those that are
# cut by us HROCE_LOSS percent are lost, 1 by default, but none of tests that need each (pyverbs.lossless). nodes.sh runs the
# suite between two machines.
#
#	settings.sh LINK GID-INDEX [PATTERN...]

. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/lossy.sh"

link=${1:?a link}
HROCE_LOSS=${HROCE_LOSS:-1}
knobs=/sys/kernel/debug/hroce/$link
run=$(dirname "$0")/run.py

# usage: frames SINCE: how many have left the link since there were so many
frames() { echo $(($(cat "/sys/class/infiniband/$link/ports/1/hw_counters/tx_frames") - $1)); }

turn() { echo N | tee "$knobs"/{local,elide_icrc} && echo "$1" >"$knobs/gso"; }

# usage: in_frames NAME ARGUMENTS...: far fewer frames would mean that they have taken the short way after all
in_frames() {
	local name=$1 before

	shift
	before=$(frames 0)
	tap_stream "$name:" "$run" -r "$@"
	tap_case "$name.are_sent" test "$(frames "$before")" -gt 1000
}

[ -d "$knobs" ] || mount -t debugfs debugfs /sys/kernel/debug
tap_stream memory: "$run" "$@"
tap_case frames_gso_Y turn Y
in_frames frames_gso_Y "$@"
tap_case frames_gso_N turn N
in_frames frames_gso_N -n "$@"
lossy "$link" lo >/dev/null || tap_not_ok frames_lost
in_frames frames_lost -l lo "$@"
tap_done
