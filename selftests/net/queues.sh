#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Netdevs with two transmit queues, one for each CPU, that empty at different rates: packets of a queue pair do not
# overtake each other, whichever CPU sends them.
#
#	namespace A: nla on ea <----- veth -----> namespace B: nlb on eb

. "$(dirname "$0")/lib.sh"

# usage: two_queues NAMESPACE NETDEV: queue 0 belongs to CPU 0 and is slow, queue 1 to CPU 1
two_queues() {
	local ns=$1 dev=$2 i rates=(50mbit 400mbit)

	# Segmentation by the qdisc would free the frame, so a bucket holds a whole super-packet.
	tc -n "$ns" qdisc replace dev "$dev" root handle 1: mq || return
	for i in 0 1; do
		ip netns exec "$ns" sh -c "echo $((1 << i)) >/sys/class/net/$dev/queues/tx-$i/xps_cpus" &&
			tc -n "$ns" qdisc replace dev "$dev" parent "1:$((i + 1))" tbf rate "${rates[i]}" burst 128k \
				limit 64m || return
	done
	# A veth delivers to the CPU that sends, which may change between frames of a queue.
	ip netns exec "$ns" sh -c "for it in /sys/class/net/$dev/queues/rx-*/rps_cpus; do echo 1 >\$it; done"
}

topology() {
	new_ns "$nsA" && new_ns "$nsB" || return
	ip link add ea netns "$nsA" mtu 4200 numtxqueues 2 numrxqueues 2 type veth \
		peer name eb netns "$nsB" mtu 4200 numtxqueues 2 numrxqueues 2 || return
	address "$nsA" ea 1 && address "$nsB" eb 2 && reaches "$nsA" 10.90.0.2 fd90::2 || return
	add_link "$nsA" nla ea && add_link "$nsB" nlb eb || return
	# An ACK that waits for a frame of the requester may be overtaken by the next one: that is meant to be.
	knob nla ack_delay_us 0 && knob nlb ack_delay_us 0 || return
	two_queues "$nsA" ea && two_queues "$nsB" eb
}

# usage: bytes NAMESPACE NETDEV QUEUE: sent so far
bytes() { tc -n "$1" -s qdisc show dev "$2" parent "1:$(($3 + 1))" | sed -n 's/.*Sent \([0-9]*\) bytes.*/\1/p' | head -1; }

# usage: out_of_order LINK: counters of requests that came before others sent earlier. Behind a request that finds no
# receive entry, rx_drop_psn counts packets that come in order, too; and rx_drop_stale_ack those that answer a probe, as
# queues that fill make the round trip longer than it was.
out_of_order() {
	local it

	for it in nak_seq_sent rx_drop_sequence; do
		echo "$it=$(counter "$1" $it)"
	done
}

# usage: between_cpus SECONDS OPTION...: traffic whose posts come from both CPUs in turn
between_cpus() {
	local i=0 pid it

	traffic -T "$@" &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		for it in $(pgrep -x vt_traffic); do
			taskset -a -p -c $((i % 2)) "$it" >/dev/null 2>&1
		done
		i=$((i + 1))
		sleep 0.05
	done
	wait $pid
}

# usage: in_order OPTION...
in_order() {
	local a b c d i

	[ "$(nproc)" -gt 1 ] || { echo "needs two CPUs"; return 4; }
	a=$(out_of_order nla) b=$(out_of_order nlb) c=$(counter nla retransmits) d=$(counter nlb retransmits)
	between_cpus 8 -e 20 "$@" || return
	for i in 0 1; do
		echo "queue $i: $(bytes "$nsA" ea $i) bytes from A, $(bytes "$nsB" eb $i) from B so far"
	done
	echo "retransmits: $(($(counter nla retransmits) - c)) by A, $(($(counter nlb retransmits) - d)) by B; out of order at A:"
	diff <(echo "$a") <(out_of_order nla) && echo "none; at B:" && diff <(echo "$b") <(out_of_order nlb) && echo "none"
}

# Between messages nothing is under way, and the queue follows the CPU.
queue_follows_cpu() {
	local i before

	[ "$(nproc)" -gt 1 ] || { echo "needs two CPUs"; return 4; }
	for i in 0 1 0; do
		before=$(bytes "$nsA" ea $i)
		HROCE_DEV=nla HROCE_DEV2=nlb timeout -s KILL 60 taskset -c $i "$build/vt_traffic" -w 1 -n 50 || return
		echo "queue $i: $(($(bytes "$nsA" ea $i) - before)) bytes"
		[ $(($(bytes "$nsA" ea $i) - before)) -gt 100000 ] || return
	done
}

topology || { tap_case queues.topology false; tap_done; exit 1; }
tap_case queues.rc_in_order in_order
tap_case queues.rc_many_in_order in_order -w 32 -x 20000
tap_case queues.uc_in_order in_order -t uc -L
tap_case queues.queue_follows_cpu queue_follows_cpu
tap_done
