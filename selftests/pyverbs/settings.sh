#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rdma-core's suite has both sides of a test in one process and on one device. So run it on one link, with each way that
# packets may take there: from memory to memory, and as frames with an ICRC, cut by the device or by us. nodes.sh runs it
# between two machines.
#
#	settings.sh LINK GID-INDEX [PATTERN...]

link=${1:?a link}
knobs=/sys/kernel/debug/hroce/$link
run=$(dirname "$0")/run.py

# usage: frames SINCE: how many have left the link since there were so many
frames() { echo $(($(cat "/sys/class/infiniband/$link/ports/1/hw_counters/tx_frames") - $1)); }

[ -d "$knobs" ] || mount -t debugfs debugfs /sys/kernel/debug
status=0
"$run" "$@" || status=1
for gso in Y N; do
	echo "# frames, gso=$gso"
	before=$(frames 0)
	echo N | tee "$knobs"/{local,elide_icrc} >/dev/null && echo $gso >"$knobs/gso" && "$run" -r "$@" || status=1
	# Far fewer would mean that they have taken the short way after all.
	[ "$(frames "$before")" -gt 1000 ] || { echo "only $(frames "$before") frames"; status=1; }
done
exit "$status"
