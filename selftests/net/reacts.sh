#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Parameters of DCQCN reach it: all that A sends comes through congestion for a while, and with another value of a
# parameter its rate is another one. What each value should do exactly, unit_dcqcn has.
#
#	namespace A: nla on ea <----- veth -----> namespace B: nlb on eb

. "$(dirname "$0")/lib.sh"

dir=/sys/kernel/debug/hroce/nla
tracing=/sys/kernel/tracing

# usage: set_rp NAME VALUE...: parameters; the others have their defaults
set_rp() {
	local it

	for it in "${!default[@]}"; do echo "${default[$it]}" >"$dir/rp_$it" || return; done
	while [ $# -gt 0 ]; do
		echo "$2" >"$dir/rp_$1" && [ "$(cat "$dir/rp_$1")" = "$2" ] || return
		shift 2
	done
}
declare -A default
find_defaults() {
	local it

	[ -d $dir ] || mount -t debugfs debugfs /sys/kernel/debug || return
	[ -e $tracing/trace ] || mount -t tracefs tracefs $tracing || return
	# The default clock of user-mode Linux has but ticks.
	echo mono >$tracing/trace_clock || return
	for it in "$dir"/rp_*; do
		it=${it##*/rp_}
		[ "$it" = enable ] || default[$it]=$(cat "$dir/rp_$it")
	done
	[ "${#default[@]}" = 16 ] && knob nla cc dcqcn
}

marks() {
	ip netns exec "$nsA" nft -f - <<-NFT
	table inet t {
		chain c {
			type filter hook postrouting priority 0; policy accept;
			udp dport 4791 ip ecn set ce
		}
	}
	NFT
}
no_marks() { ip netns exec "$nsA" nft flush ruleset; }

# The limit of the one queue pair that sends, in kbps; nothing if it has none.
rate() {
	rdma -dd resource show qp link nla/1 | sed -n 's/.*type RC state RTS .* drv_cc_rate_kbps \([0-9]*\) .*/\1/p'
}
limited() { [ -n "$(rate)" ]; }
unlimited() { ! limited; }
under() { limited && [ "$(rate)" -lt "$1" ]; }
over() { limited && [ "$(rate)" -gt "$1" ]; }

# usage: with COMMAND... -- NAME VALUE...: while a stream flows with these parameters
with() {
	local command=() status=0

	while [ "$1" != -- ]; do command+=("$1") && shift; done
	shift
	set_rp "$@" && stream_begins write nlb || return
	"${command[@]}" || { status=1 && rate && tail -n 20 $tracing/trace; }
	no_marks
	stream_ends
	return $status
}

# usage: cuts SECONDS: "TIME RATE" of each notification that has made the rate lower, the first one too, in microseconds
# and kbps
cuts() {
	local status=0

	echo >$tracing/trace && echo 1 >$tracing/events/hroce/hroce_cnp/enable && marks && sleep "$1" || status=1
	echo 0 >$tracing/events/hroce/hroce_cnp/enable
	sed -n 's/.* \([0-9]*\)\.\([0-9]*\): hroce_cnp: .* rate=\([0-9]*\)kbps/\1\2 \3/p' $tracing/trace |
		awk '!was || $2 < was { print } { was = $2 }' >"/tmp/cuts-$id"
	head -n 10 "/tmp/cuts-$id"
	[ "$(wc -l <"/tmp/cuts-$id")" -ge 3 ] && return $status
}

# usage: shortest LEAST MOST: the shortest time between two of the cuts
shortest() {
	cuts 1 && awk -v least="$1" -v most="$2" 'NR > 1 && (!min || $1 - was < min) { min = $1 - was } { was = $1 }
		END { print "shortest: " min; exit !(min >= least && min <= most) }' "/tmp/cuts-$id"
}
# A raise comes between cuts, so that there is something to cut. A cut is traced some time after its time was taken, so
# short times are not exact.
monitor_period() {
	local common=(time_reset 60000 byte_reset 0 dce_tcp_rtt 131071)

	with shortest 130000 100000000 -- rate_reduce_monitor_period 131071 "${common[@]}" &&
		with shortest 0 100000 -- rate_reduce_monitor_period 40 "${common[@]}"
}

# usage: second LEAST MOST: the rate after the second notification that cuts, if the first one sets 1 Gbit/s
second() {
	cuts 0.5 && awk -v least="$1" -v most="$2" 'NR == 1 && $2 != 1000000 { exit 1 }
		NR == 2 { exit !($2 >= least && $2 <= most) }' "/tmp/cuts-$id"
}
# Alpha begins at next to nothing. All of it comes from the first one, or next to nothing.
alpha() {
	local common=(rate_to_set_on_first_cnp 1000 initial_alpha_value 1 dce_tcp_rtt 131071 time_reset 131071 byte_reset 0)

	with second 490000 510000 -- dce_tcp_g 0 "${common[@]}" &&
		with second 990000 999999 -- dce_tcp_g 1023 "${common[@]}"
}

# After many cuts, a raise goes half of the way to the rate before all of them, or before the last one.
back() { marks && wait_for 20 under 11000 && sleep 0.5 && no_marks && wait_for 20 over 400000; }
not_back() { marks && wait_for 20 under 11000 && sleep 0.5 && no_marks && sleep 1 && under 100000; }
clamp() {
	local common=(rate_to_set_on_first_cnp 1000 min_rate 10 ai_rate 1 time_reset 131071 byte_reset 0)

	with back -- clamp_tgt_rate 0 "${common[@]}" && with not_back -- clamp_tgt_rate 1 "${common[@]}"
}

# Between two cuts there is a raise by time, which brings back half of what the cut took, or is on its way to 1 Gbit/s.
sinks() { marks && wait_for 20 under 100000; }
stays() { marks && wait_for 20 under 900000 && sleep 4 && over 250000; }
clamp_ati() {
	local common=(rate_to_set_on_first_cnp 1000 min_rate 10 threshold 31 rate_reduce_monitor_period 131071
		time_reset 100000 dce_tcp_rtt 131071 byte_reset 0)

	with sinks -- clamp_tgt_rate_ati 1 "${common[@]}" && with stays -- clamp_tgt_rate_ati 0 "${common[@]}"
}

# Many raises lead to 1 Tbit/s at once, or do not for long.
ends() { marks && wait_for 20 limited && no_marks && wait_for 20 unlimited; }
ends_not() { marks && wait_for 20 limited && no_marks && sleep 2 && under 300000000; }
many_raises() {
	local common=(rate_to_set_on_first_cnp 100 min_rate 100 max_rate 1000000 time_reset 20000)

	with ends -- hai_rate 1000000 "${common[@]}" && with ends_not -- hai_rate 1 "${common[@]}"
}

two_ends && find_defaults || { tap_case reacts.topology false; tap_done; exit 1; }
tap_case reacts.rate_reduce_monitor_period monitor_period
tap_case reacts.dce_tcp_g alpha
tap_case reacts.clamp_tgt_rate clamp
tap_case reacts.clamp_tgt_rate_ati clamp_ati
tap_case reacts.hai_rate many_raises
tap_done
