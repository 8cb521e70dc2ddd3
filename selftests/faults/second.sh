#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two addresses of a node, on the debug kernel: there is no memory for the way to the second one when the peer tells it.

. "$(dirname "$0")/../net/lib.sh"

failslab=/sys/kernel/debug/failslab
[ -d "$failslab" ] || tap_skip_all "the kernel cannot inject faults"

linked() { two_pairs && knob nla second nlc && knob nlb second nld; }

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

tap_case second.memory_links linked
tap_case second.memory_opened_later opened_later
tap_done
