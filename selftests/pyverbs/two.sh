#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rdma-core's suite between two links: nla in one network namespace, nlb in another, a veth pair between them, frames with
# an ICRC. Both sides of a test are still in one process, which may use links of all namespaces.
#
#	two.sh [PATTERN...]

. "$(dirname "$0")/../net/lib.sh"

# usage: has_gid LINK NUMBER: the GID of 10.90.0.NUMBER, which comes right after the link-local one
has_gid() { wait_for 10 grep -qx "0000:0000:0000:0000:0000:ffff:0a5a:000$2" "/sys/class/infiniband/$1/ports/1/gids/1"; }

frames() { cat "/sys/class/infiniband/$1/ports/1/hw_counters/tx_frames"; }

two_ends && has_gid nla 1 && has_gid nlb 2 || exit
knob nla elide_icrc N && knob nlb elide_icrc N || exit
status=0
ip netns exec "$nsA" selftests/pyverbs/run.py -r nla,nlb 1 "$@" || status=1
for link in nla nlb; do
	# Far fewer would mean that both sides were on one link after all.
	[ "$(frames $link)" -gt 1000 ] || { echo "only $(frames $link) frames of $link"; status=1; }
	echo "# $link: $(frames $link) frames"
done
exit "$status"
