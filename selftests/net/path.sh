#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A path with short queues, at the MTU of most networks: little is sent more than once.
#
#	namespace A            namespace S          namespace T            namespace B
#	pla on pa <--- veth ---> bridge <--- veth ---> bridge <--- veth ---> plb on pb
#
# S cuts super-packets at its egress. From there on each packet counts in the backlog of the CPU, which holds 1000, and
# nothing of what gets lost there comes back to the sender but a NAK.
#
# usage: path.sh			the test
#        path.sh rates [MESSAGES]	MB/s of hroce and of TCP, three times each in turn, 1 MB messages; then the same
#					through a bottleneck of 1 Gbit/s with a queue of 512 KB. Not part of the test.
#					ib_write_bw polls at low priority: with one CPU it holds up the path otherwise

. "$(dirname "$0")/lib.sh"

nsS=neS-$id
nsT=neT-$id
megabyte=1048576

# usage: plain NAMESPACE NETDEV...: nothing offloaded
plain() {
	local ns=$1 dev

	shift
	for dev; do
		ip netns exec "$ns" ethtool -K "$dev" tx off sg off tso off gso off gro off tx-udp-segmentation off || return
	done
}

# usage: bridge NAMESPACE NETDEV NETDEV
bridge() {
	ip -n "$1" link add sw type bridge && ip -n "$1" link set sw up &&
		ip -n "$1" link set "$2" master sw up && ip -n "$1" link set "$3" master sw up
}

path_up() {
	local ns

	for ns in "$nsA" "$nsS" "$nsT" "$nsB"; do new_ns "$ns" || return; done
	ip link add pa netns "$nsA" type veth peer name sa netns "$nsS" &&
		ip link add st netns "$nsS" type veth peer name ts netns "$nsT" &&
		ip link add tb netns "$nsT" type veth peer name pb netns "$nsB" || return
	bridge "$nsS" sa st && bridge "$nsT" ts tb && plain "$nsS" sa st && plain "$nsT" ts tb || return
	address "$nsA" pa 1 93 && address "$nsB" pb 2 93 && reaches "$nsA" 10.93.0.2 || return
	add_link "$nsA" pla pa && add_link "$nsB" plb pb
}

# usage: writes MESSAGES [OPTION...]: of 1 MB from A to B, 128 of them posted at a time; seconds are counted, so none may be asked for
writes() {
	local log=/tmp/path-$id options=(-F -m 1024 -s "$megabyte" -n "$1" -t 128 --report_gbits "${@:2}")

	ip netns exec "$nsB" ib_write_bw -d plb -x 1 "${options[@]}" >"$log" 2>&1 &
	ip netns exec "$nsB" lib/listens 20 18515 || return
	ip netns exec "$nsA" nice -n "${niceness:-0}" ib_write_bw -d pla -x 1 "${options[@]}" 10.93.0.2 || return
	wait $! || { cat "$log"; return 1; }
}

# usage: grown NAME: what a counter of pla has grown by since remember
remember() {
	local name

	for name in tx_bytes tx_errors tx_refused retransmits nak_seq_rcvd; do
		declare -g "was_$name=$(counter pla $name)"
	done
}
grown() { local was=was_$1; echo $(($(counter pla "$1") - ${!was})); }

# At first the window is larger than the queue: there is loss, but not again and again.
little_is_sent_twice() {
	local n=256 more

	remember
	writes $n || return
	more=$((100 * $(grown tx_bytes) / (n * megabyte) - 100))
	echo "$(grown retransmits) losses, $more % sent in addition, $(grown tx_refused) packets refused"
	[ "$(grown retransmits)" -gt 0 ] || { echo "the queues are not short"; return 1; }
	[ "$(grown tx_errors)" = 0 ] && [ "$more" -lt 15 ]
}

# The first queue is that of this host, which says so. What it refuses is neither an error nor lost: the peer sees no gap.
# Congestion control would keep it short, and one queue pair alone puts little into it.
what_is_refused_waits() {
	local n=64 ok=0

	knob pla cc none || return
	tc -n "$nsA" qdisc add dev pa root tbf rate 400mbit burst 128k limit 80k || return
	remember
	writes $n -q 4 || ok=1
	tc -n "$nsA" qdisc del dev pa root
	knob pla cc delay || return
	echo "$(grown tx_refused) packets refused, $(grown tx_errors) errors, $(grown nak_seq_rcvd) gaps"
	[ $ok = 0 ] && [ "$(grown tx_refused)" -gt 0 ] && [ "$(grown tx_errors)" = 0 ] && [ "$(grown nak_seq_rcvd)" = 0 ]
}

# A bottleneck instead: 480 packets of queue, where 2048 may be in flight.
a_bottleneck_is_not_flooded() {
	local n=64 more ok=0

	tc -n "$nsT" qdisc add dev tb root tbf rate 1gbit burst 64k limit 512k || return
	remember
	writes $n || ok=1
	tc -n "$nsT" qdisc del dev tb root
	more=$((100 * $(grown tx_bytes) / (n * megabyte) - 100))
	echo "$(grown retransmits) losses, $more % sent in addition"
	[ $ok = 0 ] && [ "$(grown tx_errors)" = 0 ] && [ "$more" -lt 15 ]
}

stream() {
	ip netns exec "$nsB" iperf3 -s -1 >"/tmp/path-$id" 2>&1 &
	ip netns exec "$nsB" lib/listens 20 5201 || return
	ip netns exec "$nsA" iperf3 -c 10.93.0.2 -l 1M -n "$1M"
}

# usage: took COMMAND...: milliseconds
took() {
	local begin

	begin=$(date +%s%3N)
	"$@" >"/tmp/rate-$id" 2>&1 || { cat "/tmp/rate-$id" >&2; return 1; }
	echo $(($(date +%s%3N) - begin))
}

# usage: rate NAME COMMAND...: MB/s of COMMAND, which moves as many messages as it is told; without the time to begin and end
rate() {
	local name=$1 few some

	shift
	few=$(took "$@" 8) && remember && some=$(took "$@" "$messages") || return
	echo "$name $(((messages - 8) * megabyte / 1000 / (some - few))) MB/s, $(grown retransmits) losses," \
		"$(grown tx_bytes) bytes sent for $((messages * megabyte))"
}

rates() {
	local _

	for _ in 1 2 3; do
		niceness=19 rate hroce writes
		rate tcp stream
	done
}

path_up || { tap_case path.topology false; tap_done; exit 1; }
sysctl -qw net.core.netdev_max_backlog=1000
if [ "${1:-}" = rates ]; then
	messages=${2:-2000}
	echo "short queue of the CPU:"
	rates
	tc -n "$nsT" qdisc add dev tb root tbf rate 1gbit burst 64k limit 512k
	messages=$((messages / 10))
	echo "1 Gbit/s, 512 KB:"
	rates
	exit
fi
tap_case path.little_is_sent_twice little_is_sent_twice
tap_case path.what_is_refused_waits what_is_refused_waits
tap_case path.a_bottleneck_is_not_flooded a_bottleneck_is_not_flooded
tap_done
