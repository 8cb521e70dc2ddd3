#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Counters count what happens, exactly where the protocol is exact; captures see the packets.
#
#	namespace A: nla on ea <----- veth -----> namespace B: nlb on eb

. "$(dirname "$0")/lib.sh"

# usage: snapshot LINK: all counters, "name value" per line
snapshot() {
	local dir=/sys/class/infiniband/$1/ports/1/hw_counters file

	for file in "$dir"/*; do
		[ "${file##*/}" = lifespan ] || echo "${file##*/} $(cat "$file")"
	done
}

# usage: delta NAME < (before, after): what a counter grew by
delta() { awk -v n="$1" '$1 == n { v[k++] = $2 } END { print v[1] - v[0] }'; }

# All but the names of mlx5 are in both, and the answer has room for the longest name of a link.
sysfs_agrees_with_netlink() {
	local name value shown files n=0 long

	long=$(printf 'l%.0s' {1..63})
	traffic -n 50 && rdma dev set nla name "$long" || return
	shown=$(rdma statistic show link "$long/1")
	files=$(snapshot "$long")
	rdma dev set "$long" name nla || return
	while read -r name value; do
		[[ $'\n'$files$'\n' == *$'\n'"$name $value"$'\n'* ]] || { echo "$name $value is not in: $files"; return 1; }
		n=$((n + 1))
	done < <(sed 's/^link [^ ]* //' <<<"$shown" | xargs -n 2)
	[ "$n" = $(($(wc -l <<<"$files") - 9)) ] || { echo "$n of: $files"; return 1; }
}

# Reliable datagrams one by one: so many requests, so many packets, nothing dropped, nothing twice.
sends_are_counted() {
	local a b n=50 grown

	a=$(snapshot nla)
	b=$(snapshot nlb)
	traffic -t ud -n $n -x 512 || return
	a+=$'\n'$(snapshot nla)
	b+=$'\n'$(snapshot nlb)
	for side in "$a" "$b"; do
		for name in tx_packets rx_packets; do
			grown=$(delta $name <<<"$side")
			[ "$grown" = $n ] || { echo "$name grew by $grown, not $n"; return 1; }
		done
		for name in retransmits timeouts requester_errors responder_errors; do
			grown=$(delta $name <<<"$side")
			[ "$grown" = 0 ] || { echo "$name grew by $grown"; return 1; }
		done
		grown=$(grep -o '^rx_drop_[a-z_]*' <<<"$side" | sort -u | while read -r name; do delta "$name" <<<"$side"; done |
			awk '{ s += $1 } END { print s }')
		[ "$grown" = 0 ] || { echo "$grown packets dropped"; return 1; }
	done
}

loss_shows() {
	local a

	a=$(snapshot nla)
	tc -n "$nsA" qdisc add dev ea root netem loss 5% && traffic -e 12 -n 100 -x 20000 || return
	tc -n "$nsA" qdisc del dev ea root
	a+=$'\n'$(snapshot nla)
	[ "$(delta retransmits <<<"$a")" -gt 0 ] || { echo "no retransmits: $a"; return 1; }
}

# usage: shows LINK PATTERN: among what is said of its queue pairs
shows() {
	local state

	state=$(rdma -dd resource show qp link "$1") && [[ $state =~ $2 ]]
}

# usage: while_shown OPTIONS PATTERN-A PATTERN-B: nla shows one thing, nlb another at some time, while all that is sent by A
# is treated as netem's OPTIONS say. The programs poll, so they must not keep the CPU from those that look
while_shown() {
	local ok=1

	# shellcheck disable=SC2086
	tc -n "$nsA" qdisc add dev ea root netem $1 limit 10000 || return
	traffic -e 18 -T 60 -x 200000 -w 32 >"/tmp/traffic-$id" 2>&1 &
	wait_for 10 pgrep vt_traffic && pgrep vt_traffic | xargs renice -n 19 -p && wait_for 20 shows nla "$2" &&
		wait_for 20 shows nlb "$3" && ok=0
	[ "$ok" = 0 ] || rdma -dd resource show qp
	pkill vt_traffic
	wait
	tc -n "$nsA" qdisc del dev ea root
	return "$ok"
}

queue_pairs_are_shown() {
	while_shown "delay 20ms" \
		'drv_rtt_us [2-9][0-9]{4} .* drv_retries_left 7 drv_cc delay drv_rtt_min_us 20[0-9]{3} drv_rivals 0 drv_spread_kbps [1-9][0-9]* drv_window_pkts [1-9][0-9]* drv_in_flight_pkts [1-9].* (answer|window|rate)' \
		'drv_recovers 0 drv_waits_for nothing drv_kept_pkts 0'
}

gaps_are_shown() {
	while_shown "delay 20ms loss 3%" 'drv_peer_keeps 1 drv_recovers 1' 'drv_kept_pkts [1-9]'
}

# usage: counted NAME CLASSES: by how much the snapshots of standard input grew in all of the classes together
counted() { grep -E "^($1)_($2) " | awk '!($1 in was) { was[$1] = $2; next } { grown += $2 - was[$1] } END { print grown + 0 }'; }

# Packets of A take 20 ms to B, so nothing that A measures takes less, and no loss is repaired sooner.
times_are_counted() {
	local a

	a=$(snapshot nla)
	tc -n "$nsA" qdisc add dev ea root netem delay 20ms loss 5% limit 10000 && traffic -e 16 -n 100 -x 20000 || return
	tc -n "$nsA" qdisc del dev ea root
	a+=$'\n'$(snapshot nla)
	grep -E '^(rtt|recovery)_' <<<"$a"
	[ "$(counted rtt 'le_64ms|gt_64ms' <<<"$a")" -gt 0 ] && [ "$(counted rtt 'le_(64us|256us|1ms|4ms|16ms)' <<<"$a")" = 0 ] &&
		[ "$(counted recovery 'le_64ms|gt_64ms' <<<"$a")" -gt 0 ]
}

# usage: traced EVENT: how often, since the trace was emptied
traced() { grep -c " hroce_$1: qpn=[0-9]* .* window=[1-9][0-9]* rtt=[0-9]*us " "$tracing/trace"; }

recoveries_are_traced() {
	tracing=/sys/kernel/tracing
	[ -e $tracing/trace ] || mount -t tracefs tracefs $tracing || return
	echo >$tracing/trace && echo 1 >$tracing/events/hroce/hroce_retransmit/enable &&
		echo 1 >$tracing/events/hroce/hroce_recovered/enable || return
	tc -n "$nsA" qdisc add dev ea root netem loss 5% limit 10000 && traffic -e 16 -n 100 -x 20000 || return
	tc -n "$nsA" qdisc del dev ea root
	echo 0 >$tracing/events/hroce/enable
	[ "$(traced retransmit)" -gt 0 ] && [ "$(traced recovered)" -gt 0 ] || { head -n 40 $tracing/trace; return 1; }
}

# usage: trace_waits ARGUMENTS...: of traffic whose requests take 20 ms
trace_waits() {
	local status=0

	echo >$tracing/trace && tc -n "$nsA" qdisc add dev ea root netem delay 20ms limit 10000 || return
	echo 1 >$tracing/events/hroce/hroce_wait/enable && traffic -e 16 "$@" || status=1
	echo 0 >$tracing/events/hroce/enable
	tc -n "$nsA" qdisc del dev ea root || status=1
	return $status
}

# usage: repeated: of a queue pair, the same reason twice running
repeated() {
	sed -n 's/.* hroce_wait: qpn=\([0-9]*\) waits_for=\([a-z]*\) .*/\1 \2/p' $tracing/trace |
		awk 'was[$1] == $2 { print; found = 1 } { was[$1] = $2 } END { exit !found }'
}

# A window is full until answers come. If one request is sent at a time, its answer leaves nothing to wait for: no run of the
# requester tells of that.
waits_are_traced() {
	tracing=/sys/kernel/tracing
	[ -e $tracing/trace ] || mount -t tracefs tracefs $tracing || return
	trace_waits -n 100 -x 200000 -w 32 && ! repeated && grep -q ' hroce_wait: qpn=[0-9]* waits_for=window window=[1-9][0-9]* in_flight=[1-9][0-9]* rtt=' $tracing/trace &&
		grep -q ' rtt=[2-9][0-9][0-9][0-9][0-9]us rate=[0-9]*kbps$' $tracing/trace &&
		trace_waits -n 40 -x 1000 -w 1 && [ "$(grep -c waits_for=nothing $tracing/trace)" -ge 30 ] ||
		{ tail -n 40 $tracing/trace; return 1; }
}

# More is posted than may be queued below a queue pair: what is posted meanwhile needs no kick.
backlog_is_not_kicked() {
	local n=600 kicks

	kicks=$(counter nla kicks)
	tc -n "$nsA" qdisc add dev ea root netem delay 20ms limit 10000 && traffic -e 16 -n $n -x 200000 -w 32 || return
	tc -n "$nsA" qdisc del dev ea root
	sleep 0.1
	kicks=$(($(counter nla kicks) - kicks))
	echo "$kicks kicks for $n requests"
	[ "$kicks" -lt $((n / 3)) ]
}

# usage: backlog NAMESPACE NETDEV: bytes in its qdisc
backlog() { tc -s -j -n "$1" qdisc show dev "$2" | grep -o '"backlog":[0-9]*' | cut -d: -f2 | head -1; }

backlog_over() { [ "$(backlog "$nsA" ea)" -gt "$1" ]; }

# Datagrams that a slow netdev has not sent yet are not let pile up: 32 MB are posted, a few packets are queued.
datagrams_wait() {
	local bytes most=0 pids

	ip netns exec "$nsB" ib_send_bw -c UD -F -d nlb -x 1 -s 4096 -t 4096 -n 8192 >/dev/null 2>&1 &
	pids=$!
	wait_for 10 ip netns exec "$nsB" bash -c 'ss -Hltn "sport = 18515" | grep -q .' || return
	tc -n "$nsA" qdisc add dev ea root tbf rate 32mbit burst 70000 limit 100000000 || return
	ip netns exec "$nsA" ib_send_bw -c UD -F -d nla -x 1 -s 4096 -t 4096 -n 8192 10.90.0.2 >/dev/null 2>&1 &
	pids+=" $!"
	wait_for 20 backlog_over 10000 || return
	sleep 0.2
	for _ in {1..20}; do
		bytes=$(backlog "$nsA" ea)
		most=$((bytes > most ? bytes : most))
		sleep 0.05
	done
	# shellcheck disable=SC2086
	kill $pids 2>/dev/null
	tc -n "$nsA" qdisc del dev ea root
	wait
	echo "$most bytes queued"
	[ "$most" -gt 10000 ] && [ "$most" -lt 100000 ]
}

capture_sees_port_4791() {
	local pid packets

	ip netns exec "$nsB" tcpdump -i eb -n -U -w "/tmp/cap-$id" udp port 4791 2>"/tmp/cap-$id.log" &
	pid=$!
	wait_for 10 grep -q listening "/tmp/cap-$id.log" || return
	traffic -t ud -n 20 || return
	wait_for 10 bash -c "[ \$(tcpdump -r /tmp/cap-$id 2>/dev/null | wc -l) -ge 40 ]"
	kill $pid
	wait $pid
	packets=$(tcpdump -r "/tmp/cap-$id" -n 2>/dev/null | grep -c '4791: UDP')
	[ "$packets" -ge 40 ] || { echo "$packets packets seen"; return 1; }
}

# Flows of different queue pairs differ in their source port, so that networks with many paths spread them.
source_ports_spread() {
	local ports

	ip netns exec "$nsB" tcpdump -i eb -n -U -w "/tmp/src-$id" udp dst port 4791 2>"/tmp/src-$id.log" &
	wait_for 10 grep -q listening "/tmp/src-$id.log" || return
	for seed in 1 2 3 4 5 6; do traffic -n 10 -s $seed || return; done
	kill %%
	wait
	ports=$(tcpdump -r "/tmp/src-$id" -n src 10.90.0.1 2>/dev/null | grep -oE '10\.90\.0\.1\.[0-9]+' | sort -u | wc -l)
	echo "$ports source ports"
	[ "$ports" -ge 3 ]
}

resources_are_listed() {
	under_traffic bash -c "rdma resource show qp link nla/1 | grep -q 'type RC state RTS' &&
		rdma resource show mr dev nla | grep -q mrlen && rdma resource show cq dev nla | grep -q cqe" &&
		[ "$traffic_status" = 0 ]
}

# usage: bands NETNS NETDEV: "PRIORITY PACKETS" per line
bands() { tc -s -n "$1" class show dev "$2" | awk '$2 == "prio" { band = $3 } $1 == "Sent" { print substr(band, 3), $4 }'; }

# The completion of a datagram tells of its network header by the SL; who answers has the priority of any other.
replies_have_no_priority() {
	local end seen

	for end in "$nsA ea" "$nsB eb"; do
		# shellcheck disable=SC2086
		set -- $end
		tc -n "$1" qdisc add dev "$2" root handle 1: prio bands 16 priomap {0..15} || return
	done
	env HROCE_DEV=nla HROCE_DEV2=nlb HROCE_NS="$nsA" HROCE_NS2="$nsB" "$build/ud" reply_by_completion &&
		env HROCE_DEV=nla HROCE_DEV2=nlb HROCE_NS="$nsA" HROCE_NS2="$nsB" "$build/cm" connect_and_talk || return
	seen=$(bands "$nsA" ea; bands "$nsB" eb)
	tc -n "$nsA" qdisc del dev ea root
	tc -n "$nsB" qdisc del dev eb root
	echo "$seen"
	awk '$1 == "1" { n += $2 } $1 != "1" { other += $2 } END { exit !n || other }' <<<"$seen"
}

# usage: ping_pong MESSAGES CPU CPU: each end polls for the other's on its CPU; leaves how many hand-overs there were
ping_pong() {
	local before log=/tmp/ping-pong-$id

	before=$(($(counter nla handovers) + $(counter nlb handovers)))
	ip netns exec "$nsB" taskset -c "$3" ib_write_lat -F -d nlb -x 1 -s 8 -n "$1" >"$log" 2>&1 &
	wait_for 10 ip netns exec "$nsB" bash -c 'ss -Hltn "sport = 18515" | grep -q .' || return
	ip netns exec "$nsA" taskset -c "$2" ib_write_lat -F -d nla -x 1 -s 8 -n "$1" 10.90.0.2 || return
	wait $! || { cat "$log"; return 1; }
	handovers=$(($(counter nla handovers) + $(counter nlb handovers) - before))
	echo "$handovers hand-overs for $1 messages each way"
}

# Who has sent leaves the CPU to who polls for it there, and to nobody else.
pollers_hand_over() {
	local n=300 handovers

	[ ! -e /proc/lockdep ] || { echo "this kernel is too slow to answer in time"; return 4; }
	ping_pong $n 0 0 && [ "$handovers" -gt $n ] || return
	knob nla hand_over N && knob nlb hand_over N || return
	ping_pong 50 0 0 && [ "$handovers" = 0 ] || return
	knob nla hand_over Y && knob nlb hand_over Y || return
	[ "$(nproc)" -gt 1 ] || return 0
	ping_pong $n 0 1 && [ "$handovers" = 0 ]
}

two_ends || { tap_case counters.topology false; tap_done; exit 1; }
tap_case counters.sysfs_agrees_with_netlink sysfs_agrees_with_netlink
tap_case counters.sends_are_counted sends_are_counted
tap_case counters.loss_shows loss_shows
tap_case counters.backlog_is_not_kicked backlog_is_not_kicked
tap_case counters.datagrams_wait datagrams_wait
tap_case counters.capture_sees_port_4791 capture_sees_port_4791
tap_case counters.source_ports_spread source_ports_spread
tap_case counters.replies_have_no_priority replies_have_no_priority
tap_case counters.queue_pairs_are_shown queue_pairs_are_shown
tap_case counters.gaps_are_shown gaps_are_shown
tap_case counters.times_are_counted times_are_counted
tap_case counters.recoveries_are_traced recoveries_are_traced
tap_case counters.waits_are_traced waits_are_traced
tap_case counters.resources_are_listed resources_are_listed
tap_case counters.pollers_hand_over pollers_hand_over
tap_done
