#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The part of record that runs in a guest: two links over a path that loses packets. Results are in $VM_OUT.

. "$(dirname "$0")/../net/lib.sh"

out=${VM_OUT:?}

# usage: recorded FAMILY NAME; which packets are lost is chance
recorded() {
	local pid round

	two_ends 1500 && knob nla gso N && knob nlb gso N || return
	tc -n "$nsA" qdisc add dev ea root netem loss 4% && tc -n "$nsB" qdisc add dev eb root netem loss 4% || return
	rm -f "/tmp/ready-$id"
	ip netns exec "$nsA" vectors/record.py ea "$out/$2" "$out/MANIFEST.tsv" "/tmp/ready-$id" &
	pid=$!
	wait_for 10 [ -e "/tmp/ready-$id" ] || return
	for round in {1..20}; do
		kill -0 $pid 2>/dev/null || break
		HROCE_FAMILY=$1 traffic -n 300 -x 60000 -e 14 -s "$round" || break
	done
	kill $pid 2>/dev/null
	wait $pid || return
	cleanup
}

tap_case vectors.ipv4 recorded 4 hroce_ipv4.hex
tap_case vectors.ipv6 recorded 6 hroce_ipv6.hex
tap_done
