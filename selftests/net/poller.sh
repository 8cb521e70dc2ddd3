#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The poller of a link: it saves kicks, sleeps when there is nothing to do, and comes and goes under traffic.
#
#	namespace A: nla on ea <----- veth -----> namespace B: nlb on eb

. "$(dirname "$0")/lib.sh"

# Long: where CPUs are emulated, the one of the application may stand still for some milliseconds at any time.
poll_us=50000

# usage: poller LINK: the thread's number
poller() { pgrep -x "hroce/$1"; }
gone() { ! poller "$1"; }
asleep() { [[ $(ps -o stat= -p "$(poller "$1")") = I* ]]; }
# How often it has left the CPU so far: what stands still while it sleeps has had no CPU.
switches() { awk '/_ctxt_switches/ { n += $2 } END { print n }' "/proc/$(poller "$1")/status"; }

switched_on_and_off() {
	local i

	gone nla || { echo "there is a thread before it is switched on"; return 1; }
	for i in 1 2 3 4 5; do
		knob nla poll_us 1000 && poller nla && knob nla poll_us 7 && poller nla || return
		[ "$(cat "/sys/kernel/debug/hroce/nla/poll_us")" = 7 ] && [ "$(poller nla | wc -l)" = 1 ] || return
		knob nla poll_us 0 && gone nla || { echo "the thread is still there"; return 1; }
	done
	! knob nla poll_us 1000001 && ! knob nla poll_us -1 && ! knob nla poll_us x && gone nla
}

# usage: writes N: small writes from nla to nlb, each posted by itself
writes() {
	local log=/tmp/writes-$id

	ip netns exec "$nsB" ib_write_bw -F -d nlb -x 1 -s 64 -n "$1" >"$log" 2>&1 &
	wait_for 10 ip netns exec "$nsB" bash -c 'ss -Hltn "sport = 18515" | grep -q .' || return
	ip netns exec "$nsA" ib_write_bw -F -d nla -x 1 -s 64 -n "$1" 10.90.0.2 || return
	wait $! || { cat "$log"; return 1; }
}

# usage: kicks_for N: leaves how many kicks so many writes took, and what the poller found
kicks_for() {
	kicks=$(counter nla kicks)
	polled=$(counter nla polled)
	writes "$1" || return
	kicks=$(($(counter nla kicks) - kicks))
	polled=$(($(counter nla polled) - polled))
	echo "$kicks kicks for $1 writes, $polled times found by the poller"
}

kicks_are_saved() {
	local n=20000 kicks polled

	[ "$(nproc)" -gt 1 ] || { echo "needs two CPUs"; return 4; }
	kicks_for $n && [ "$kicks" -ge $((n / 2)) ] && [ "$polled" = 0 ] || return
	knob nla poll_us $poll_us && kicks_for $n || return
	knob nla poll_us 0 || return
	[ "$kicks" -lt $((n / 4)) ] && [ "$polled" -gt 0 ]
}

# Who posts after that kicks again, and so wakes it.
idle_costs_nothing() {
	local before after

	knob nla poll_us 1000 && traffic -n 50 && wait_for 10 asleep nla || return
	before=$(switches nla)
	sleep 1
	after=$(switches nla)
	[ "$before" -gt 0 ] && [ "$before" = "$after" ] || { echo "ran while idle: $before, $after"; return 1; }
	before=$(counter nla kicks)
	traffic -n 50 || return
	[ "$(counter nla kicks)" -gt "$before" ] || { echo "no kicks"; return 1; }
	[ "$(switches nla)" -gt "$after" ] || { echo "not woken"; return 1; }
	knob nla poll_us 0
}

# usage: toggle TIMES: by chance it is asleep, awake, or about to change
toggle() {
	local i

	for ((i = 0; i < $1; i++)); do
		knob nla poll_us $((RANDOM % 3 * 500)) && knob nlb poll_us $((RANDOM % 3 * 500)) || return
		sleep "0.0$((RANDOM % 10))"
	done
	knob nla poll_us 0 && knob nlb poll_us 0 && gone nla && gone nlb
}

toggled_under_traffic() {
	local options

	for options in "-t rc" "-t ud -L" "-t rc -x 100 -w 1"; do
		vt_options=$options under_traffic toggle 25 || return
		[ "$traffic_status" = 0 ] || return
	done
}

# With the shortest time it falls asleep between any two requests: no post may be forgotten on the way.
sleeps_between_requests() {
	knob nla poll_us 1 && knob nlb poll_us 1 && traffic -n 3000 -w 1 -x 100 && traffic -n 3000 || return
	knob nla poll_us 0 && knob nlb poll_us 0
}

link_deleted() {
	local i

	for i in 1 2 3; do
		knob nla poll_us $poll_us && knob nlb poll_us $poll_us || return
		under_traffic rdma link del nla || return
		[[ $traffic_status = [25] ]] && gone nla || return
		add_link "$nsA" nla ea && traffic -n 30 || return
	done
	rdma link del nlb && gone nlb && add_link "$nsB" nlb eb && traffic -n 30
}

two_ends || { tap_case poller.topology false; tap_done; exit 1; }
tap_case poller.switched_on_and_off switched_on_and_off
tap_case poller.kicks_are_saved kicks_are_saved
tap_case poller.idle_costs_nothing idle_costs_nothing
tap_case poller.toggled_under_traffic toggled_under_traffic
tap_case poller.sleeps_between_requests sleeps_between_requests
tap_case poller.link_deleted link_deleted
tap_done
