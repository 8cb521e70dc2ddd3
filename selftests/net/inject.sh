#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Malformed packets from a packet socket, see inject.py; answers before the question has left, see early.py; good ones
# out of order, see kept.py, and what they cost others, others.py; what tells of those, sack.py; marked ones, marks.py;
# and old ones that name a window which has another owner now, windows.py.
#
#	namespace A: nla and a packet socket on ea <----- veth -----> namespace B: nlb on eb

. "$(dirname "$0")/lib.sh"

setup() {
	two_ends || return
	# The frames come from outside, as far as the receiver is concerned.
	knob nla elide_icrc N && knob nlb elide_icrc N
}

# What strangers send may not fill the log. Reports of checkers, between two lines of "=", are a matter of selftests/vm/run,
# which knows those that count: KCSAN sees races in the core kernel. The clock of an emulated machine may be late; a case
# drops caches.
log_is_quiet() {
	local lines

	lines=$(log_since inject | sed -E '/={60}$/,/={60}$/d' | grep -vE 'eth0: |clocksource: |hrtimer: |drop_caches: ')
	echo "$lines"
	[ -z "$lines" ]
}

tap_case inject.topology setup
[ "$tap_failures" = 0 ] || { tap_done; exit 1; }
mark_log inject
tap_stream '' net/inject.py "$nsA" "$nsB" 4 "$@"
[ $# != 0 ] || tap_stream '' net/inject.py "$nsA" "$nsB" 6
[ $# != 0 ] || tap_stream '' net/early.py "$nsA" "$nsB" 4
[ $# != 0 ] || tap_stream '' net/kept.py "$nsA" "$nsB" 4
[ $# != 0 ] || tap_stream '' net/others.py "$nsA" "$nsB" 4
[ $# != 0 ] || tap_stream '' net/sack.py "$nsA" "$nsB" 4
[ $# != 0 ] || tap_stream '' net/sack.py "$nsA" "$nsB" 6
[ $# != 0 ] || tap_stream '' net/marks.py "$nsA" "$nsB" 4
[ $# != 0 ] || tap_stream '' net/marks.py "$nsA" "$nsB" 6
[ $# != 0 ] || tap_stream '' net/windows.py "$nsA" "$nsB" 4
[ -z "${HROCE_XDP:-}" ] || tap_case inject.by_xdp grows nlb rx_xdp 0 500
tap_case inject.log_is_quiet log_is_quiet
tap_done
