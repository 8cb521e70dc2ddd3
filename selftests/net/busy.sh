#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Busy polling between two guests: processes that poll take the frames, not interrupts, and their ACKs join their answers.
# Node 2 serves, node 1 judges by its own counters.

cd "$(dirname "$0")/../.." || exit 1
. selftests/lib/tap.sh

messages=2000
switch=/sys/kernel/debug/hroce/hroce0/busy_poll
napi=/sys/class/net/eth0
usual=$VM_OUT/usual

interrupts() {
	awk '/virtio.*-input/ { for (i = 2; i <= 3; i++) sum += $i } END { print sum + 0 }' /proc/interrupts
}

# usage: counted NAME
counted() {
	cat "/sys/class/infiniband/hroce0/ports/1/hw_counters/$1"
}

# usage: set_mode Y|N: with Y, interrupts stay off while polls go on (Documentation/admin-guide.rst). 20 ms without a poll
# are usual where two guests with two CPUs each are emulated by two.
set_mode() {
	echo "$1" >"$switch" || return
	if [ "$1" = Y ]; then
		echo 2 >"$napi/napi_defer_hard_irqs" && echo 20000000 >"$napi/gro_flush_timeout"
	else
		echo 0 >"$napi/napi_defer_hard_irqs" && echo 0 >"$napi/gro_flush_timeout"
	fi
}

# usage: ping_pong MODE: sets taken (interrupts), polled, and joined (acknowledgements)
ping_pong() {
	local peer=()

	set_mode "$1" || return
	vm-barrier "mode $1 $phase" || return
	taken=$(interrupts)
	polled=$(counted busy_polls)
	joined=$(counted acks_joined)
	[ "$NODE" = 2 ] || { peer=(node2); sleep 2; }
	timeout 60 ib_send_lat -d hroce0 -x 1 -F -u 20 -s 8 -n "$messages" "${peer[@]}" >"$VM_OUT/ib_send_lat-$phase" ||
		return
	taken=$(($(interrupts) - taken))
	polled=$(($(counted busy_polls) - polled))
	joined=$(($(counted acks_joined) - joined))
	echo "$taken interrupts, $polled polls, $joined joined for $messages messages each way"
}

# Off: each message comes by an interrupt as a rule, no process polls, and no peer was asked whether ACKs may join.
is_off() {
	ping_pong N && [ "$polled$joined" = 00 ] && [ "$taken" -gt $((messages / 2)) ] && echo "$taken" >"$usual"
}

is_on() {
	ping_pong Y && [ "$polled" -gt "$messages" ] && [ "$joined" -gt $((messages / 2)) ] &&
		[ "$taken" -lt $(($(cat "$usual") / 2)) ]
}

# The library stops asking when the switch goes off.
is_off_again() {
	ping_pong N && [ "$polled$joined" = 00 ]
}

for phase in off on off_again; do
	if [ "$NODE" = 1 ]; then
		tap_case "busy.$phase" "is_$phase"
	else
		ping_pong "$([ $phase = on ] && echo Y || echo N)" >/dev/null
	fi
	vm-barrier "end $phase"
done
[ "$NODE" != 1 ] || tap_done
