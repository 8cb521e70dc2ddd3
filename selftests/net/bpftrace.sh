#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The scripts for bpftrace that the documentation has, while there is something to see.

. "$(dirname "$0")/lib.sh"

scripts=$PWD/../Documentation/monitoring/bpftrace
seen=/tmp/bpftrace-$id

gone() { ! kill -0 "$1" 2>/dev/null; }

# usage: interrupt PID: it ignores that until all probes are attached
interrupt() {
	for _ in 1 2 3 4 5 6; do
		kill -INT "$1" 2>/dev/null || return 0
		! wait_for 10 gone "$1" || return 0
	done
	return 1
}

# usage: watch SCRIPT [ARGUMENT...]: what it shows of some traffic is in $seen
watch() {
	local pid

	bpftrace "$scripts/$1.bt" "${@:2}" >"$seen" 2>&1 &
	pid=$!
	wait_for 60 grep -q '^Attaching' "$seen" || { kill "$pid"; cat "$seen"; return 1; }
	# It says so before it does.
	sleep 5
	traffic -n 300 -x 200000 -e 14 || { kill "$pid"; return 1; }
	interrupt "$pid" || { kill "$pid"; cat "$seen"; return 1; }
	wait "$pid"
	cat "$seen"
}

# usage: shows PATTERN...: extended regular expressions, of lines
shows() {
	local pattern

	for pattern; do grep -qE "$pattern" "$seen" || { echo "nothing like '$pattern'"; return 1; }; done
}

# A histogram has lines such as "[64, 128)  12 |@@@|".
acks() { watch acks && shows '^@us\[[0-9]+\]:' '^\[[0-9KM]+, [0-9KM]+\) +[1-9]' && ! grep -q @last "$seen"; }

losses() {
	tc -n "$nsA" qdisc add dev ea root netem loss 3% && knob nla gso N && watch losses || return
	tc -n "$nsA" qdisc del dev ea root && knob nla gso Y || return
	shows '^@resent\[[0-9]+\]: [1-9]' '^@rtt_us\[[0-9]+\]: count [1-9][0-9]*, average' '^@recovery_us\[[0-9]+\]:' &&
		! grep -q @since "$seen"
}

# None is smaller than what is asked for.
bursts() {
	watch bursts 100000 && shows '^[0-9]+ ms: [0-9]{6,} bytes, by queue pair:' '^@by\[[0-9]+\]: [1-9]' '^@bursts: [1-9]' &&
		! grep -E '^[0-9]+ ms: [0-9]{1,5} bytes' "$seen"
}

# Answers take 20 ms.
waits() {
	tc -n "$nsA" qdisc add dev ea root netem delay 20ms limit 10000 && watch waits || return
	tc -n "$nsA" qdisc del dev ea root
	shows '^@us\[[0-9]+, (answer|window|rate)\]: [0-9]{5,}$' && ! grep -qE '@(at|why)' "$seen"
}

two_ends || { tap_case bpftrace.topology false; tap_done; exit 1; }
for it in acks losses bursts waits; do tap_case "bpftrace.$it" "$it"; done
tap_done
