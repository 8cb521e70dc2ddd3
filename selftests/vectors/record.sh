#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The part of record that runs in a guest: two links over a path that loses packets. Results are in $VM_OUT.

. "$(dirname "$0")/../net/lib.sh"

out=${VM_OUT:?}

# usage: gid_index LINK PATTERN: of the GID that begins so
gid_index() { basename "$(grep -l "^$2" "/sys/class/infiniband/$1/ports/1/gids/"* | head -n 1)"; }

# usage: answer_in_time FAMILY: ACKs wait so long that they can join requests, and come while the receiver has the CPU
answer_in_time() {
	knob nla ack_delay_us 10000 && knob nlb ack_delay_us 10000 &&
		tc -n "$nsA" qdisc change dev ea root netem loss 4% delay 1ms &&
		tc -n "$nsB" qdisc change dev eb root netem loss 4% delay 1ms &&
		HROCE_FAMILY=$1 traffic -n 2000 -x 1000 -e 14 &&
		knob nla ack_delay_us 20 && knob nlb ack_delay_us 20
}

# usage: fill_long_path FAMILY: so much is in flight that one SACK does not tell of all that is kept
fill_long_path() {
	local pattern=0000:0000:0000:0000:0000:ffff server

	[ "$1" = 4 ] || pattern=fd90
	tc -n "$nsA" qdisc change dev ea root netem loss 0.05% delay 10ms limit 100000
	tc -n "$nsB" qdisc change dev eb root netem loss 0% delay 10ms limit 100000
	set -- -s 8388608 -t 16 -D 3 -F
	ip netns exec "$nsB" timeout 15 ib_write_bw -d nlb -x "$(gid_index nlb $pattern)" "$@" &
	server=$!
	sleep 1
	ip netns exec "$nsA" timeout 15 ib_write_bw -d nla -x "$(gid_index nla $pattern)" "$@" 10.90.0.2
	wait $server
} >/dev/null 2>&1

# Beside those: they have an address each, which is all that is needed of them.
second_links() {
	ip link add ec netns "$nsA" mtu 1500 type veth peer name ed netns "$nsB" mtu 1500 &&
		address "$nsA" ec 1 91 && address "$nsB" ed 2 91 && add_link "$nsA" nlc ec && add_link "$nsB" nld ed &&
		wait_for 10 has_gid nlc && wait_for 10 has_gid nld && knob nla second nlc && knob nlb second nld
}
has_gid() { grep -q "^fd91" "/sys/class/infiniband/$1/ports/1/gids/"*; }

# usage: recorded FAMILY NAME; which packets are lost is chance
recorded() {
	local pid round

	two_ends 1500 && second_links && knob nla gso N && knob nlb gso N || return
	tc -n "$nsA" qdisc add dev ea root netem loss 4% duplicate 2% &&
		tc -n "$nsB" qdisc add dev eb root netem loss 4% || return
	rm -f "/tmp/ready-$id"
	ip netns exec "$nsA" vectors/record.py ea "$out/$2" "$out/MANIFEST.tsv" "/tmp/ready-$id" &
	pid=$!
	wait_for 10 [ -e "/tmp/ready-$id" ] || return
	for round in {1..20}; do
		kill -0 $pid 2>/dev/null || break
		HROCE_FAMILY=$1 traffic -n 300 -x 60000 -e 14 -s "$round" || break
	done
	answer_in_time "$1" || return
	for round in {1..3}; do
		kill -0 $pid 2>/dev/null || break
		fill_long_path "$1"
	done
	kill $pid 2>/dev/null
	wait $pid || return
	cleanup
}

tap_case vectors.ipv4 recorded 4 hroce_ipv4.hex
tap_case vectors.ipv6 recorded 6 hroce_ipv6.hex
tap_done
