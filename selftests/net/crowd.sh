#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Many queue pairs on a slow netdev: what they queue below is little, and does not hold up others. And frames that are
# freed late stop none of them.
#
#	namespace A              namespace B
#	nla on ea <---- veth ----> nlb on eb
#	      100 Mbit/s each way

. "$(dirname "$0")/lib.sh"

qps=64
port=18700
load=$PWD/../build/selftests-bench/load

# A bucket holds a whole super-packet: segmentation by the qdisc would free the frame.
slow_ends() {
	two_ends && tc -n "$nsA" qdisc add dev ea root tbf rate 100mbit burst 70000 limit 500m &&
		tc -n "$nsB" qdisc add dev eb root tbf rate 100mbit burst 70000 limit 500m
}

# usage: crowd OPERATION SIZE: 5 seconds of it by all queue pairs; leaves its process in crowd_pid
crowd() {
	local options=(-b -x 1 -p $((++port)) -o "$1" -s "$2" -t 16 -q "$qps" -D 5 -e)

	ip netns exec "$nsB" timeout 60 "$load" -d nlb "${options[@]}" >/dev/null 2>&1 &
	wait_for 20 ip netns exec "$nsB" bash -c "ss -Hltn 'sport = $port' | grep -q ." || return
	ip netns exec "$nsA" timeout 60 "$load" -d nla "${options[@]}" 10.90.0.2 >"/tmp/crowd-$id" 2>&1 &
	crowd_pid=$!
}

# usage: backlog NAMESPACE NETDEV: bytes in its qdisc
backlog() { tc -s -j -n "$1" qdisc show dev "$2" | grep -o '"backlog":[0-9]*' | cut -d: -f2 | head -1; }
backlog_over() { [ "$(backlog "$1" "$2")" -gt "$3" ]; }

# usage: little_waits CONTROL OPERATION SIZE NAMESPACE NETDEV: whose qdisc it fills. First there is a burst of each queue
# pair, as none knows the rate yet. 300 KB take 24 ms.
little_waits() {
	local n bytes most=0 sum=0 ping

	control "$1" && crowd "$2" "$3" && wait_for 20 grows nlb rx_packets "$(counter nlb rx_packets)" 1000 || return
	sleep 1
	ip netns exec "$nsA" ping -i 0.02 -c 50 10.90.0.2 >"/tmp/ping-$id" &
	for ((n = 0; n < 20; n++)); do
		bytes=$(backlog "$4" "$5")
		most=$((bytes > most ? bytes : most))
		sum=$((sum + bytes))
		sleep 0.05
	done
	wait %%
	wait $crowd_pid || { cat "/tmp/crowd-$id"; return 1; }
	ping=$(sed -n 's/.*time=\([0-9]*\).*/\1/p' "/tmp/ping-$id" | sort -n | sed -n 25p)
	echo "$((sum / n)) bytes queued, $most at most; median ping ${ping:-lost} ms"
	[ $((sum / n)) -gt 50000 ] || { echo "the machine is slower than the link"; return 4; }
	[ "$most" -lt 1000000 ] && [ "${ping:-1000}" -lt 100 ]
}

mac_of() { ip netns exec "$1" cat "/sys/class/net/$2/address"; }

# usage: permanent NAMESPACE NETDEV ADDRESS NAMESPACE NETDEV ADDRESS: the first has an address, and knows its neighbour
permanent() {
	ip -n "$1" address add "$3/24" dev "$2" && ip -n "$1" link set "$2" up &&
		ip -n "$1" neigh replace "$6" lladdr "$(mac_of "$4" "$5")" nud permanent dev "$2"
}

# Copies of all frames arrive, and the frames stay in the queue: each is freed when a later one is sent, and the last two
# not at all. Payload is copied at this MTU, so no acknowledgement waits for its frame.
#
#	ea ==== veth ==== eb
#	 | copies         ^
#	ex ==== veth ==== ey
late_frames() {
	local ns

	cleanup
	new_ns "$nsA" && new_ns "$nsB" || return
	for ns in "$nsA" "$nsB"; do
		ip netns exec "$ns" sysctl -qw net.ipv6.conf.{all,default}.disable_ipv6=1 || return
	done
	add_veth 1500 "$nsA" ea "$nsB" eb && add_veth 1500 "$nsA" ex "$nsB" ey &&
		ip -n "$nsA" link set ex up && ip -n "$nsB" link set ey up address "$(mac_of "$nsB" eb)" &&
		permanent "$nsA" ea 10.90.0.1 "$nsB" eb 10.90.0.2 && permanent "$nsB" eb 10.90.0.2 "$nsA" ea 10.90.0.1 &&
		reaches "$nsA" 10.90.0.2 && add_link "$nsA" nla ea && add_link "$nsB" nlb eb || return
	tc -n "$nsB" qdisc add dev ey clsact &&
		tc -n "$nsB" filter add dev ey ingress matchall action mirred ingress redirect dev eb &&
		tc -n "$nsA" qdisc add dev ea clsact &&
		tc -n "$nsA" filter add dev ea egress matchall action mirred egress mirror dev ex &&
		tc -n "$nsA" qdisc add dev ea root handle 1: tbf rate 8bit burst 128k limit 1m &&
		tc -n "$nsA" qdisc add dev ea parent 1: pfifo_head_drop limit 2
}

# Hardly any other frame comes. So the frames of one queue pair stay there, when it has sent as much as it may.
late_frames_stop_nobody() {
	local first second

	qps=1
	late_frames && control none && crowd write 65536 &&
		wait_for 20 grows nla tx_frames "$(counter nla tx_frames)" 20 || return
	sleep 2
	first=$(counter nla tx_frames)
	sleep 2
	second=$(counter nla tx_frames)
	tc -s -n "$nsA" qdisc show dev ea
	backlog_over "$nsA" ea 0 && wait $crowd_pid || { cat "/tmp/crowd-$id"; return 1; }
	echo "$((second - first)) frames in two seconds"
	[ $((second - first)) -ge 3 ]
}

slow_ends || { tap_case crowd.topology false; tap_done; exit 1; }
for cc in none delay; do
	tap_case crowd.writes_$cc little_waits $cc write 65536 "$nsA" ea
	tap_case crowd.long_writes_$cc little_waits $cc write 1048576 "$nsA" ea
	tap_case crowd.reads_$cc little_waits $cc read 65536 "$nsB" eb
done
tap_case crowd.late_frames_stop_nobody late_frames_stop_nobody
tap_done
