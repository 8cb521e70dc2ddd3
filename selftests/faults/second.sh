#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two addresses of a node, on the debug kernel: there is no memory for the way to the second one when the peer tells it.

. "$(dirname "$0")/../net/lib.sh"

failslab=/sys/kernel/debug/failslab
[ -d "$failslab" ] || tap_skip_all "the kernel cannot inject faults"

two_pairs() {
	new_ns "$nsA" && new_ns "$nsB" &&
		ip link add ea netns "$nsA" mtu 4200 type veth peer name eb netns "$nsB" mtu 4200 &&
		ip link add ec netns "$nsA" mtu 4200 type veth peer name ed netns "$nsB" mtu 4200 &&
		address "$nsA" ea 1 90 && address "$nsB" eb 2 90 && address "$nsA" ec 1 91 && address "$nsB" ed 2 91 &&
		reaches "$nsA" 10.90.0.2 fd90::2 10.91.0.2 fd91::2 &&
		add_link "$nsA" nla ea && add_link "$nsB" nlb eb && add_link "$nsA" nlc ec && add_link "$nsB" nld ed &&
		knob nla second nlc && knob nlb second nld
}

# usage: state LINK: what the queue pairs of a link say of their second way
state() { rdma -dd resource show qp link "$1" | sed -n 's/.*drv_second \([a-z]*\).*/\1/p' | sort -u; }
ready() { [ "$(state nla) $(state nlb)" = 'ready ready' ]; }

# usage: fail TIMES: so many allocations fail that the answers of peers cause
fail() {
	local from to

	read -r from to < <(sort /proc/kallsyms |
		awk '$3 == "hroce_second_heard" { from = $1; next } from && $1 != from { print from, $1; exit }')
	[ -n "$to" ] && echo "0x$from" >"$failslab/require-start" && echo "0x$to" >"$failslab/require-end" &&
		echo 0 >"$failslab/verbose" && echo 32 >"$failslab/stacktrace-depth" && echo N >"$failslab/ignore-gfp-wait" &&
		echo "$1" >"$failslab/times" && echo 100 >"$failslab/probability"
}

# Neither end has memory, for the first time; the queue pairs get their second way nevertheless.
opened_later() {
	fail 2 && under_traffic wait_for 20 ready
	local status=$?
	echo "ways: $(state nla) $(state nlb), allocations left to fail: $(cat "$failslab/times")"
	echo 0 >"$failslab/probability"
	[ "$status$traffic_status" = 00 ] && [ "$(cat "$failslab/times")" = 0 ]
}

tap_case second.memory_links two_pairs
tap_case second.memory_opened_later opened_later
tap_done
