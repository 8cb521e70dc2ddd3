#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rdma-core's suite has both sides of a test in one process and on one device. So run it on one link, with each way that
# packets may take there: from memory to memory, and as frames with an ICRC, cut by the device or by us. nodes.sh runs it
# between two machines.
#
#	settings.sh LINK GID-INDEX [PATTERN...]

. "$(dirname "$0")/../lib/tap.sh"

link=${1:?a link}
knobs=/sys/kernel/debug/hroce/$link
run=$(dirname "$0")/run.py

# usage: frames SINCE: how many have left the link since there were so many
frames() { echo $(($(cat "/sys/class/infiniband/$link/ports/1/hw_counters/tx_frames") - $1)); }

turn() { echo N | tee "$knobs"/{local,elide_icrc} && echo "$1" >"$knobs/gso"; }

[ -d "$knobs" ] || mount -t debugfs debugfs /sys/kernel/debug
tap_stream memory: "$run" "$@"
for gso in Y N; do
	before=$(frames 0)
	tap_case "frames_gso_$gso" turn $gso
	tap_stream "frames_gso_$gso:" "$run" -r "$@"
	# Far fewer would mean that they have taken the short way after all.
	tap_case "frames_gso_$gso.are_sent" test "$(frames "$before")" -gt 1000
done
tap_done
