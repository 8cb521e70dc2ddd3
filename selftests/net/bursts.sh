#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The recorder of microbursts: it names the queue pair that fills the queue of a slow netdev, and is silent otherwise.
#
#	namespace A              namespace B
#	nla on ea <---- veth ----> nlb on eb
#	      100 Mbit/s each way

. "$(dirname "$0")/lib.sh"

port=18800
load=$PWD/../build/selftests-bench/load
tracing=/sys/kernel/tracing
bursts=/sys/kernel/debug/hroce/nla/bursts

# A bucket holds a whole super-packet: segmentation by the qdisc would free the frame.
slow_ends() { two_ends && tc -n "$nsA" qdisc add dev ea root tbf rate 100mbit burst 70000 limit 500m; }

listens() { ip netns exec "$nsB" ss -Hltn "sport = $port" | grep -q .; }

qpns() { rdma resource show qp link nla | sed -n 's/.* lqpn \([0-9]*\) .*type RC state RTS.*/\1/p' | sort; }
more_qpns() { [ "$(qpns | wc -l)" -gt "$1" ]; }

# usage: writes SIZE DEPTH: by a queue pair of its own, until stop_all
writes() {
	local options=(-b -x 1 -p $((++port)) -o write -s "$1" -t "$2" -D 100 -e) before

	before=$(qpns | wc -l)
	ip netns exec "$nsB" "$load" -d nlb "${options[@]}" >"/tmp/writes-$id" 2>&1 &
	wait_for 60 listens || { cat "/tmp/writes-$id"; stop_all; return 1; }
	ip netns exec "$nsA" "$load" -d nla "${options[@]}" 10.90.0.2 >>"/tmp/writes-$id" 2>&1 &
	wait_for 60 more_qpns "$before" || { cat "/tmp/writes-$id"; stop_all; return 1; }
}

stop_all() {
	pkill -x load
	wait
}

# Bursts that have ended, by number from 0 on.
recorded() { grep -v -e '^#' -e ' now$' $bursts; }
has_recorded() { [ "$(recorded | sed -n '$s/ .*//p')" -ge "$1" ] 2>/dev/null; }
ends() { recorded | grep -q "$1\$"; }

# Neither a burst that has ended nor one that goes on.
nothing_recorded() { [ "$(wc -l <$bursts)" = 1 ] || { cat $bursts; return 1; }; }

# usage: are_of QPN: lines of bursts of this queue pair above 16 KB, with at least four fifths of what is queued
are_of() {
	awk -v qpn="$1" '
		!/^[0-9]+ [0-9]+ [0-9]+ [0-9]+ [0-9]+ [0-9]+ (burst|standing)$/ || $1 != (NR == 1 ? $1 : last + 1) ||
		$2 < end || $4 <= 16 || $5 != qpn || $6 < 80 || $6 > 100 || ($3 >= 1000000) != ($7 == "standing") {
			print "wrong: " $0; bad = 1
		}
		{ last = $1; end = $2 + $3 }
		END { exit bad || !NR }'
}

# Two queue pairs: one writes 64 bytes at a time, the other 250 KB with pauses.
names_who_fills() {
	local small big

	control none && knob nla burst_kb 16 && writes 64 1 || return
	small=$(qpns)
	sleep 1
	nothing_recorded && writes 250000 1 || return
	big=$(comm -13 <(echo "$small") <(qpns))
	echo "short writes by $small, long ones by $big"
	wait_for 60 has_recorded 70 || { cat $bursts; return 1; }
	stop_all
	recorded >"/tmp/bursts-$id"
	tail -n 3 "/tmp/bursts-$id"
	[ "$(wc -l <"/tmp/bursts-$id")" = 64 ] && are_of "$big" <"/tmp/bursts-$id"
}

one_line() { [ "$(grep -c ' now$' $bursts)" = 1 ]; }

# 12 KB take 1 ms here, and as much is queued: what is queued now is a line of its own, until it has gone.
shows_what_stands() {
	knob nla burst_kb 0 && knob nla burst_kb 12 && writes 1000000 4 &&
		wait_for 20 one_line && wait_for 20 grep ' standing now$' $bursts || return
	stop_all
	wait_for 20 ends standing && ! one_line && cat $bursts
}

# Bursts in the trace.
traced() { grep -c " hroce_microburst: ifindex=[0-9]* begin=[0-9]* length=[0-9]*ns peak=[0-9]*KB qpn=[0-9]" $tracing/trace; }

# Frames pass at once without a queue.
shows_short_ones() {
	[ -e $tracing/trace ] || mount -t tracefs tracefs $tracing || return
	echo >$tracing/trace && echo 1 >$tracing/events/hroce/hroce_microburst/enable &&
		tc -n "$nsA" qdisc del dev ea root && knob nla burst_kb 0 && knob nla burst_kb 20 && writes 250000 1 &&
		wait_for 20 ends burst || return
	stop_all
	echo 0 >$tracing/events/hroce/enable
	tail -n 3 $bursts $tracing/trace
	[ "$(traced)" -gt 0 ]
}

# Not switched on, and switched off again, there is nothing; nor is anything above what is sent.
is_off() {
	knob nla burst_kb 0 && nothing_recorded && writes 250000 1 && nothing_recorded && knob nla burst_kb 1048576 || return
	sleep 1
	nothing_recorded && ! knob nla burst_kb 1048577 2>/dev/null && knob nla burst_kb 20 &&
		wait_for 20 has_recorded 0 && knob nla burst_kb 0 && nothing_recorded || return
	stop_all
}

# Both are switched all the time, and one is read, while traffic flows.
switched() {
	local i

	for ((i = 0; i < 50; i++)); do
		knob nla burst_kb $((i % 3 * 10)) && knob nlb burst_kb $((i % 2)) && cat $bursts >/dev/null || return
	done
	knob nla burst_kb 20
	wait_for 20 has_recorded 3
}
switched_under_traffic() { under_traffic switched && [ "$traffic_status" = 0 ]; }

read_on() { while cat "$bursts"; do :; done; }

# A reader, and traffic, as the link ends; then there is another one of this name.
link_ends() {
	local pid

	knob nla burst_kb 1 || return
	read_on >/dev/null 2>&1 &
	pid=$!
	under_traffic rdma link del nla
	wait $pid
	[ "$traffic_status" != 0 ] && [ ! -e $bursts ] && add_link "$nsA" nla ea && nothing_recorded && knob nla burst_kb 20 &&
		traffic -n 100 && has_recorded 0
}

slow_ends || { tap_case bursts.topology false; tap_done; exit 1; }
knob nla burst_kb 0
tap_case bursts.names_who_fills names_who_fills
tap_case bursts.shows_what_stands shows_what_stands
tap_case bursts.shows_short_ones shows_short_ones
tap_case bursts.is_off is_off
tap_case bursts.switched_under_traffic switched_under_traffic
tap_case bursts.link_ends link_ends
tap_done
