#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What takes CAP_NET_ADMIN, and what a process without it gets.
#
#	namespace A: nla on ea <----- veth -----> namespace B: nlb on eb

. "$(dirname "$0")/lib.sh"

# root, but without the capability; as in a container
drop=(setpriv --bounding-set=-net_admin --inh-caps=-net_admin)

# A class of its own for each priority, which counts what A sends.
topology() {
	two_ends && tc -n "$nsA" qdisc add dev ea root handle 1: prio bands 16 priomap 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
}

# usage: sent PRIORITY: packets
sent() {
	tc -n "$nsA" -s class show dev ea | grep -A 1 "class prio 1:$(printf %x $(($1 + 1))) " |
		sed -n 's/.* \([0-9]*\) pkt .*/\1/p'
}

index() { ibv_devinfo -v -d "$1" | sed -n 's/.*GID\[ *\([0-9]*\)\].*::ffff:.*/\1/p' | head -1; }
listens() { ip netns exec "$nsB" ss -ltn | grep -q :18711; }

# usage: pingpong PROGRAM LEVEL COMMAND...: with that service level, run by COMMAND
pingpong() {
	local program=$1 level=$2 pid

	shift 2
	ip netns exec "$nsB" timeout 60 "$program" -d nlb -g "$(index nlb)" -l "$level" -n 50 -p 18711 >/dev/null &
	pid=$!
	wait_for 10 listens || return
	ip netns exec "$nsA" "$@" timeout 60 "$program" -d nla -g "$(index nla)" -l "$level" -n 50 -p 18711 10.90.0.2 &&
		wait "$pid"
}

# usage: goes_as PRIORITY PROGRAM LEVEL COMMAND...
goes_as() {
	local priority=$1 before

	before=$(sent "$priority")
	shift
	pingpong "$@" && [ "$(sent "$priority")" -ge $((before + 50)) ]
}

priorities() {
	local program

	for program in ibv_rc_pingpong ibv_ud_pingpong; do
		goes_as 3 $program 3 "${drop[@]}" && goes_as 6 $program 6 "${drop[@]}" && goes_as 7 $program 7 env || return
		goes_as 6 $program 7 "${drop[@]}" || { echo "$program"; tc -n "$nsA" -s class show dev ea; return 1; }
	done
}

# An XRC target has no process of its own. It is created by one, and sends ACKs.
xrc_target() {
	local before

	before=$(sent 7)
	goes_as 6 ibv_xsrq_pingpong 7 "${drop[@]}" && [ "$(sent 7)" = "$before" ]
}

partition_keys() {
	local file=/sys/class/infiniband/nla/set_pkey

	echo 1 0x8001 >$file && grep -q 0x8001 /sys/class/infiniband/nla/ports/1/pkeys/1 || return
	! "${drop[@]}" sh -c "echo 1 0x8002 >$file" || return
	grep -q 0x8001 /sys/class/infiniband/nla/ports/1/pkeys/1
}

policy() {
	local file=/sys/class/infiniband/nla/offload/policy

	echo software >$file && ! "${drop[@]}" sh -c "echo auto >$file" && grep -q software $file && echo auto >$file
}

# usage: shown COMMAND...: to whom it runs as: the queue pairs with a connection
shown() { "$@" rdma resource show qp link nla | grep 'type RC .*state RTS'; }

# What a packet must have to be taken for one of another's connection, see "Guessing" in Documentation/security.rst
numbers_shown() {
	shown env && shown env | grep 'rqpn [1-9].* rq-psn [1-9].* sq-psn [1-9]' || return
	shown "${nobody[@]}" && ! shown "${nobody[@]}" | grep -v 'rqpn 0 .* rq-psn 0 sq-psn 0 '
}
numbers_hidden() {
	local nobody=("${drop[@]}")

	under_traffic numbers_shown || return
	nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	under_traffic numbers_shown
}

topology || { tap_case privilege.topology false; tap_done; exit 1; }
tap_case privilege.priorities priorities
tap_case privilege.xrc_target xrc_target
tap_case privilege.partition_keys partition_keys
tap_case privilege.policy policy
tap_case privilege.numbers_hidden numbers_hidden
tap_done
