#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# usage: calls.sh SEED CALLS [SECONDS]
# Random calls of uverbs on one link, in a guest: runs of CALLS each, with SEED, SEED + 1 and so on for SECONDS, or
# one. After each run nothing may be left of the processes that made them; after all, the link must work as before.
# A report of the kernel ends the runs, as does one that hangs. That memory leaks is seen on the debug kernel.

cd "$(dirname "$0")/../.." || exit 1
. selftests/lib/tap.sh
. selftests/lib/one-link.sh

tests=$PWD/build/selftests-verbs
seed=${1:?seed} calls=${2:?calls} seconds=${3:-0}

# Objects go with the last reference to a file, a moment after the process.
run_calls() {
	echo "# seed $seed" >&3
	HROCE_DEV=vta "$tests/vt_calls" -s "$seed" -n "$calls" >&3 || return
	wait_for 20 objects_clean
}

reported() { dmesg | grep -E 'WARNING: |BUG: |KASAN: |UBSAN: |Call Trace:'; }

rdma link del hroce0 2>/dev/null
exec 3>&1
tap_case calls.one_link one_link
end=$((SECONDS + seconds))
while :; do
	tap_case "calls.seed_$seed" run_calls
	seed=$((seed + 1))
	[ "$tap_failures" != 0 ] || [ "$SECONDS" -ge "$end" ] || reported && break
done
tap_case calls.objects_afterwards env HROCE_DEV=vta "$tests/objects"
tap_case calls.data_afterwards env HROCE_DEV=vta "$tests/data"
tap_case calls.link_del rdma link del vta
tap_done
