#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Memory runs out inside hroce, on the debug kernel. First in one allocation after the other (the n-th that a command
# causes fails, for n from 1 until the command no longer comes that far; vt_nth does so with each verb), then here and
# there under traffic. Whatever fails must fail in order: nothing is left behind, and afterwards all works. The kernel's
# own checkers see the rest.

cd "$(dirname "$0")/../.." || exit 1
. selftests/lib/tap.sh
. selftests/lib/one-link.sh
. selftests/lib/programs.sh

debugfs=/sys/kernel/debug
tests=$PWD/build/selftests-verbs
limit=100000

[ -d "$debugfs/failslab" ] || tap_skip_all "the kernel cannot inject faults"

# Only allocations with a function of hroce among the innermost FRAMES of the stack may fail.
# usage: aim FRAMES
aim() {
	local start size attribute

	start=$((0x$(sed 's/^0x//' /sys/module/hroce/sections/.text)))
	size=$((0x$(readelf -SW "$VM_KO" | awk '$2 == ".text" || $3 == ".text" { sub(/.*\.text/, ""); print $4 }')))
	[ "$start" -gt 0 ] && [ "$size" -gt 0 ] || return
	for attribute in failslab fail_page_alloc; do
		cd "$debugfs/$attribute" || return
		echo "$start" >require-start
		echo "$((start + size))" >require-end
		echo "$1" >stacktrace-depth
		echo N >ignore-gfp-wait
		echo 0 >verbose
		cd - >/dev/null || return
	done
	echo N >"$debugfs/fail_page_alloc/ignore-gfp-highmem" && echo 0 >"$debugfs/fail_page_alloc/min-order"
}

# usage: probability PERCENT
probability() {
	tee "$debugfs"/{failslab,fail_page_alloc}/times <<<-1 >/dev/null
	tee "$debugfs"/{failslab,fail_page_alloc}/probability <<<"$1" >/dev/null
}

# usage: fail_nth N COMMAND...
# COMMAND may take as long as $patience, if that is set; the status is 124 then. The process that is to suffer must
# set its counter itself, as children start without.
fail_nth() {
	${patience:+timeout --foreground "$patience"} \
		bash -c 'echo "$0" >/proc/self/fail-nth && exec "$@"' "$@" >/dev/null 2>&1
}

# Each failure lowers a counter, which tells whether the last command met one.
arm() { tee "$debugfs"/{failslab,fail_page_alloc}/times <<<1000 >/dev/null; }
has_fired() { [ "$(cat "$debugfs"/{failslab,fail_page_alloc}/times | tr -d '\n')" != 10001000 ]; }

# Some calls take thousands of allocations, most of them in the RDMA core, so the steps grow with n from $every on.
# There are allocations that can be done without: the good status is no surprise then.
every=20
# usage: each_allocation GOOD-STATUS CLEAN-UP COMMAND...
each_allocation() {
	local good=$1 clean=$2 n status failures=0

	shift 2
	for ((n = 1; n < limit; n += 1 + (n > every ? (n - every) / 3 : 0))); do
		status=0
		arm
		fail_nth "$n" "$@" || status=$?
		[ "$status" -lt 128 ] || { echo "n = $n: status $status"; return 1; }
		[ "$status" = "$good" ] || failures=$((failures + 1))
		"$clean" "$status" || { echo "n = $n: something is left behind"; return 1; }
		has_fired || break
	done
	echo "# $failures commands failed, all allocations were met at n = $n" >&3
	[ "$failures" -gt 0 ] && [ "$status" = "$good" ] && [ "$n" -lt "$limit" ]
}

# After a failed "rdma link add" there is no link; after a good one it can be deleted.
link_clean() {
	if [ "$1" = 0 ]; then
		rdma link del fault0
	else
		! rdma link show | grep -w fault0
	fi
}

# The other end of the veth pair gets a link, too, in a namespace.
second_link() {
	ip netns add faultB && ip link set vb netns faultB && ip -n faultB link set vb up mtu 4200 &&
		ip -n faultB address add 10.88.0.2/24 dev vb && wait_for 10 ping -c 1 -W 1 10.88.0.2 &&
		ip netns exec faultB rdma link add vtb type hroce netdev vb
}

# Programs may fail, but must end; the link must be usable afterwards.
traffic_under_faults() {
	local program status=0

	probability 3
	for program in data srq ud threads cm; do
		HROCE_DEV=vta timeout 60 "$tests/$program" >/dev/null 2>&1 || status=$?
		[ "$status" != 124 ] || { echo "$program hangs"; break; }
	done
	probability 0
	[ "$status" != 124 ] && objects_clean
}

links_under_faults() {
	local i

	ip link add fa type veth peer name fb
	probability 5
	for ((i = 0; i < 40; i++)); do
		rdma link add fault0 type hroce netdev fa 2>/dev/null && ip link set fa up && rdma link del fault0
		ip link set fa down
	done
	probability 0
	ip link del fa
	! rdma link show | grep -w fault0
}

trap 'probability 0' EXIT
rdma link del hroce0 2>/dev/null
exec 3>&1
tap_case faults.aim aim 8
[ "$tap_failures" = 0 ] || { tap_done; exit 1; }
ip link add f0 type veth peer name f1
# Its own allocations, and those of its queues for MADs: the RDMA core adds the link without MADs if those fail.
every=$limit
tap_case faults.link_add_own each_allocation 0 link_clean rdma link add fault0 type hroce netdev f0
# With those of the RDMA core for its GID table, of which each takes seconds.
every=4
tap_case faults.aim_deeper aim 32
tap_case faults.link_add each_allocation 0 link_clean rdma link add fault0 type hroce netdev f0
every=20
tap_case faults.links_at_random links_under_faults
tap_case faults.one_link one_link
gid=$(gid_index vta 0000:0000:0000:0000:0000:ffff)
# These wait for their peer when they have made all their objects, which takes a busy machine seconds.
patience=5
tap_case faults.queue_pair each_allocation 124 objects_clean ibv_rc_pingpong -d vta -g "$gid"
tap_case faults.shared_receive_queue each_allocation 124 objects_clean ibv_srq_pingpong -d vta -g "$gid" -q 2
patience=
tap_case faults.modify_queue_pair env HROCE_DEV=vta "$tests/halfway"
tap_stream '' env HROCE_DEV=vta "$tests/vt_nth"
tap_case faults.second_link second_link
tap_stream '' env HROCE_DEV=vta HROCE_DEV2=vtb HROCE_NS2=faultB "$tests/vt_nth_cm"
tap_case faults.objects_gone objects_clean
tap_case faults.traffic traffic_under_faults
tap_case faults.objects_afterwards env HROCE_DEV=vta "$tests/objects"
tap_case faults.data_afterwards env HROCE_DEV=vta "$tests/data"
tap_case faults.link_del rdma link del vta
tap_case faults.second_link_del rdma link del vtb
tap_done
