#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# usage: beside.sh [brief]
# Writes with the control "delay" beside TCP with CUBIC, in one queue that drops what is too much. Neither starves, and
# the link is busy. Documentation/congestion.rst has the shares.
#
#	namespace A              namespace S                       namespace B
#	nla on ea <---- veth ----> sa == bridge == sb <---- veth ----> nlb on eb
#	cuts super-packets       12 ms, then 250 Mbit/s
#
# The delay comes first: there TCP's buffers stop to belong to their socket, as on a wire. Otherwise TCP would take the
# queue of the link for one of its own host, and keep it short.

. "$(dirname "$0")/lib.sh"

nsS=neS-$id
rate_mbit=250
delay_ms=12
bdp=$((rate_mbit * delay_ms * 125))
port=18850
load=$PWD/../build/selftests-bench/load
warmup=20
seconds=30
[ "${1:-}" != brief ] || warmup=8 seconds=10

listens() { ip netns exec "$nsB" ss -Hltn "sport = $1" | grep -q .; }

topology() {
	bridged_ends && ip netns exec "$nsA" ethtool -K ea tso off gso off tx-udp-segmentation off && control delay &&
		ip netns exec "$nsA" sysctl -qw net.ipv4.tcp_congestion_control=cubic &&
		tc -n "$nsS" qdisc add dev sb root handle 1: netem delay ${delay_ms}ms limit 100000 || return
	ip netns exec "$nsB" iperf3 -s -D >/dev/null
	wait_for 20 listens 5201
}

# usage: queue BYTES: what waits before the link, at most
queue() { tc -n "$nsS" qdisc replace dev sb parent 1: handle 2: tbf rate ${rate_mbit}mbit burst 32k limit "$1"; }

# usage: tcp FLOWS SECONDS
tcp() { ip netns exec "$nsA" iperf3 -c 10.90.0.2 -P "$1" -t "$2" >/dev/null 2>&1 & }

# usage: writes FLOWS SECONDS: 1 MB each, 8 under way
writes() {
	local options=(-b -x 1 -p $((++port)) -o write -s 1048576 -t 8 -q "$1" -D "$2" -e)

	ip netns exec "$nsB" timeout 170 "$load" -d nlb "${options[@]}" >/dev/null 2>&1 &
	wait_for 20 listens $port || return
	ip netns exec "$nsA" timeout 170 "$load" -d nla "${options[@]}" 10.90.0.2 >/dev/null 2>&1 &
	wait_for 20 grows nlb rx_packets "$(counter nlb rx_packets)" 100
}

stop_all() {
	pkill -x load
	pkill -f 'iperf3 -c'
	wait
}

of_netdev() { ip netns exec "$nsB" cat /sys/class/net/eb/statistics/rx_bytes; }

# usage: measure SECONDS: sets all, percent of the link, and share, percent of these that hroce has
measure() {
	local was hroce drops begin n waits=0

	was=$(of_netdev) hroce=$(counter nlb rx_bytes) drops=$(of_queue "$nsS" sb drops) begin=$(date +%s%N)
	for ((n = 0; n < 4 * $1; n++)); do
		waits=$((waits + $(of_queue "$nsS" sb backlog)))
		sleep 0.25
	done
	all=$(($(of_netdev) - was))
	share=$(((($(counter nlb rx_bytes) - hroce) * 100) / (all ? all : 1)))
	all=$((all * 800000 / ($(date +%s%N) - begin) / rate_mbit))
	echo "# hroce has $share % of $all % of the link; $((waits / n / 1000)) KB wait," \
		"$(($(of_queue "$nsS" sb drops) - drops)) packets dropped" >&3
}

has_rivals() { rdma -dd resource show qp link nla/1 | grep -q "drv_rivals 1"; }

is_fair() { [ $all -ge 80 ] && [ $share -ge 25 ] && [ $share -le 80 ]; }

# usage: beside QUEUE FLOWS: both kinds have that many; the queue holds QUEUE times what is under way without one.
# Who starves does so for long. A machine that stands still for a while has other shares meanwhile.
beside() {
	local together noticed=true fair=false

	queue $(($1 * bdp)) && writes "$2" 150 || return
	tcp "$2" 150
	sleep $warmup
	for _ in 1 2 3; do
		measure $seconds
		! is_fair || { fair=true && break; }
	done
	together=$all
	[ "$1" = 1 ] || wait_for 10 has_rivals || noticed=false
	pkill -x load
	[ $together -ge 80 ] || measure 8
	stop_all
	[ $together -ge 80 ] || [ $all -ge 90 ] || { echo "the machine is slower than the link"; return 4; }
	$noticed && $fair
}

exec 3>&1
topology || { tap_case beside.topology false; tap_done; exit 1; }
tap_case beside.one_and_one beside 1 1
if [ "${1:-}" != brief ]; then
	tap_case beside.long_queue beside 4 1
	tap_case beside.16_and_16 beside 1 16
	tap_case beside.long_queue_16_and_16 beside 4 16
fi
tap_done
