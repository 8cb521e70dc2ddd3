#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A slow link with a queue before it, which writes fill: the queue stays short, little is lost, and flows share.
#
#	namespace A              namespace S                namespace B
#	nla on ea <---- veth ----> sa == bridge == sb <---- veth ----> nlb on eb
#	cuts super-packets                  400 Mbit/s

. "$(dirname "$0")/lib.sh"

rate_mbit=400
port=18700
load=$PWD/../build/selftests-bench/load

slow_link() { bridged_ends && ip netns exec "$nsA" ethtool -K ea tx-udp-segmentation off; }

# usage: queue BYTES: what the link holds at most
queue() { tc -n "$nsS" qdisc replace dev sb root tbf rate "${rate_mbit}mbit" burst 32k limit "$1"; }

# usage: bulk SECONDS: 1 MB writes, 16 under way; leaves what it says in /tmp/bulk-$id-PORT
bulk() {
	local here=$((port += 1))
	local options=(-b -x 1 -p "$here" -o write -s 1048576 -t 16 -D "$1")

	ip netns exec "$nsB" timeout 60 "$load" -d nlb "${options[@]}" >/dev/null 2>&1 &
	wait_for 20 ip netns exec "$nsB" bash -c "ss -Hltn 'sport = $here' | grep -q ." || return
	ip netns exec "$nsA" timeout 60 "$load" -d nla "${options[@]}" 10.90.0.2 >"/tmp/bulk-$id-$here" 2>&1 &
}

# usage: measure CONTROL QUEUE FLOWS: sets waited, KB before the link; goodput, in percent of its rate; and of thousand
# packets those that were dropped, and those that came twice
measure() {
	local sent dropped_was twice_was received begin n flow sum=0

	control "$1" && queue "$2" || return
	sent=$(counter nla tx_packets) dropped_was=$(of_queue "$nsS" sb drops) twice_was=$(counter nlb duplicates)
	for ((flow = 0; flow < $3; flow++)); do bulk 5 || return; done
	wait_for 20 grows nlb rx_packets "$(counter nlb rx_packets)" 3000 || return
	begin=$(date +%s%N) received=$(counter nlb rx_bytes)
	for ((n = 0; n < 20; n++)); do
		sum=$((sum + $(of_queue "$nsS" sb backlog)))
		sleep 0.1
	done
	goodput=$((($(counter nlb rx_bytes) - received) * 800000 / ($(date +%s%N) - begin) / rate_mbit))
	waited=$((sum / n / 1000))
	wait
	sent=$(($(counter nla tx_packets) - sent))
	dropped=$((($(of_queue "$nsS" sb drops) - dropped_was) * 1000 / sent))
	twice=$((($(counter nlb duplicates) - twice_was) * 1000 / sent))
	cat "/tmp/bulk-$id-"* && rm -f "/tmp/bulk-$id-"* || return
	echo "control $1, queue of $2, flows $3: $waited KB waited, goodput $goodput %, dropped $dropped, twice $twice of 1000"
}

# Without control, the same traffic fills the queue, so the rig would show it: if the machine is not slower than the link,
# as it may be beside other work.
queue_stays_short() {
	local filled plain

	for _ in 1 2 3; do
		measure none 8m 1 || return
		filled=$waited plain=$goodput
		measure delay 8m 1 || return
		[ "$plain" -lt 50 ] || [ "$goodput" -lt $((plain * 3 / 4)) ] || break
	done
	[ "$plain" -ge 50 ] || { echo "the machine is slower than the link"; return 4; }
	[ "$filled" -gt 300 ] && [ "$waited" -lt 100 ] && [ "$goodput" -ge $((plain * 3 / 4)) ]
}

# usage: little_is_lost QUEUE
little_is_lost() {
	measure delay "$1" 1 && [ "$waited" -lt 100 ] && [ $((dropped + twice)) -le 20 ]
}

# A veth pair has a queue for each CPU, in which frames of several processes overtake each other.
several_flows() {
	measure delay 1m 4 && [ "$waited" -lt 150 ] && [ "$dropped" -le 20 ]
}

slow_link || { tap_case congestion.topology false; tap_done; exit 1; }
tap_case congestion.queue_stays_short queue_stays_short
tap_case congestion.queue_of_256_packets little_is_lost 1m
tap_case congestion.queue_of_64_packets little_is_lost 256k
tap_case congestion.several_flows several_flows
tap_done
