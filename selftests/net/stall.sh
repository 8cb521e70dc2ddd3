#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Memory whose pages never come, as a FUSE server or a handler of userfaultfd has stopped answering, while it is fetched
# for a region with on-demand paging. The process, its link and its netdev must go all the same, without a hint from the
# server; other links must not notice; the module goes as soon as the server has.
#
#	namespace A: nla on ea <----- veth -----> namespace B: nlb on eb
#
# Must run in a guest without links of its own (run --no-load): the module is loaded and unloaded here.

. "$(dirname "$0")/lib.sh"

# Each case is a shell of its own: here is what may be left of the one before.
links=(nla nlb)
namespaces=("$nsA" "$nsB")
pids=/tmp/stall-pids-$id

# Servers, without which nothing waits for a page any more, and what of their clients is left: an open device keeps the
# module.
end_servers() {
	[ ! -e "$pids" ] || xargs kill -9 <"$pids" 2>/dev/null
	rm -f "$pids"
}

finish() {
	echo 0 >/proc/sys/vm/unprivileged_userfaultfd
	end_servers
	cleanup
}
trap finish EXIT

ended() { [ ! -e "/proc/$1" ] || grep -q '^State:.[ZX]' "/proc/$1/status"; }
link_gone() { [ ! -e "/sys/class/infiniband/$1" ]; }
unloaded() { [ ! -d /sys/module/hroce ] || rmmod hroce; }

# usage: in_time COMMAND...: it must end in 20 seconds, and well; nobody waits for one that does not, nor for its output
in_time() {
	local pid

	"$@" >"/tmp/in_time-$id" 2>&1 &
	pid=$!
	wait_for 20 ended $pid || { cat "/proc/$pid/stack" 2>/dev/null; return 1; }
	cat "/tmp/in_time-$id"
	wait $pid
}

fresh() {
	end_servers
	cleanup
	modprobe hroce && two_ends
}

# usage: stall KIND ACTION: by the command in as; leaves the process in stall_pid, its output in stall_log
as=()
stall() {
	stall_log=/tmp/stall-$id
	: >"$stall_log"
	HROCE_DEV=nla "${as[@]}" "$build/vt_stall" "$1" "$2" >"$stall_log" 2>&1 &
	stall_pid=$!
	if ! wait_for 20 grep -q '^stuck' "$stall_log"; then
		cat "$stall_log"
		ended $stall_pid && wait $stall_pid
		return
	fi
	{ echo $stall_pid; sed -n 's/^server //p' "$stall_log"; } >>"$pids"
}

# The other link still works, and new ones can be made.
others_work() { HROCE_DEV=nlb HROCE_DEV2=nlb in_time timeout 60 "$build/vt_traffic" -n 20; }

deregistered() {
	fresh && stall "$1" dereg || return
	wait_for 20 ended $stall_pid || { cat "$stall_log" /proc/$stall_pid/stack; return 1; }
	grep '^deregistered' "$stall_log" && others_work
}

killed() {
	fresh && stall "$1" read || return
	kill -9 $stall_pid
	wait_for 20 ended $stall_pid && others_work
}

link_deleted() {
	fresh && stall "$1" read || return
	in_time rdma link del nla && link_gone nla && others_work || return
	add_link "$nsA" nla ea && traffic -n 20
}

netdev_deleted() {
	fresh && stall "$1" read || return
	in_time ip -n "$nsA" link del ea && wait_for 20 link_gone nla
}

namespace_deleted() {
	fresh && stall "$1" read || return
	ip netns pids "$nsA" | xargs -r kill -9
	in_time ip netns del "$nsA" && wait_for 20 link_gone nla && wait_for 20 link_gone nlb
}

# Who waits for advice to be followed is told when the link goes.
advised() {
	fresh && stall "$1" advise || return
	wait_for 10 grep -q advise_mr /proc/$stall_pid/stack
	in_time rdma link del nla && link_gone nla || return
	wait_for 10 grep '^advice: Input/output error' "$stall_log" || { cat "$stall_log"; return 1; }
	fresh && stall "$1" advise || return
	kill -9 $stall_pid
	wait_for 20 ended $stall_pid
}

# Refused at once while the page is waited for, and done afterwards.
unload() {
	fresh && stall "$1" read || return
	kill -9 $stall_pid
	wait_for 20 ended $stall_pid || return
	in_time rdma link del nla && rdma link del nlb || return
	! in_time rmmod hroce || { echo "unloaded while code of it is waiting"; return 1; }
	[ -d /sys/module/hroce ] && add_link "$nsB" nlb eb && others_work || return
	end_servers
	wait_for 20 unloaded && modprobe hroce
}

# A process waits for 16 pages at a time, whatever its contexts.
a_process() {
	fresh && stall "$1" many || return
	wait_for 20 grep -q '^asked' "$stall_log"
	grep -x 'asked for 16 pages' "$stall_log" || { cat "$stall_log"; return 1; }
	kill -9 $stall_pid
	wait_for 20 ended $stall_pid && others_work
}

# usage: ended_process KIND: one that waits, and has ended
ended_process() {
	stall "$1" read && grep -q '^stuck' "$stall_log" || return
	kill -9 $stall_pid
	wait_for 20 ended $stall_pid
}

# 16 processes of a user may end and go on waiting; one that has not, or another user, does not count.
ended_processes() {
	local living

	fresh && stall "$1" read || return
	living=$stall_pid
	for _ in {1..16}; do ended_process "$1" || return; done
	refused "$1" && ! ended "$living" && others_work || return
	end_servers
	fresh && ended_process "$1"
}

refused() {
	stall "$1" read
	grep 'Resource temporarily unavailable' "$stall_log" || { echo "not refused"; return 1; }
}

# Who makes a namespace has many users: 64 processes of all of them. Those of root are others. FUSE does not serve the
# kernel's threads there.
ended_outside() {
	local maker user

	fresh && echo 1 >/proc/sys/vm/unprivileged_userfaultfd || return
	setpriv --reuid 1000 --regid 1000 --clear-groups unshare --user sleep 600 >/dev/null 2>&1 &
	maker=$!
	echo $maker >>"$pids"
	wait_for 10 other_user_namespace $maker && echo 0 300000 100 >/proc/$maker/uid_map &&
		echo 0 300000 100 >/proc/$maker/gid_map || return
	for user in {1..5}; do
		as=(nsenter -t "$maker" --user --setuid "$user" --setgid "$user")
		[ "$user" != 5 ] || break
		for _ in {1..16}; do ended_process "$1" || return; done
	done
	refused "$1" || return
	as=()
	ended_process "$1"
}
other_user_namespace() { [ "$(readlink "/proc/$1/ns/user")" != "$(readlink /proc/self/ns/user)" ]; }

modprobe -a rdma_ucm ib_uverbs hroce || { tap_case stall.load false; tap_done; exit 1; }
for kind in fuse uffd; do
	for case in deregistered killed link_deleted netdev_deleted namespace_deleted advised unload a_process; do
		tap_case "stall.${case}_$kind" "$case" "$kind"
	done
done
tap_case stall.ended_processes ended_processes fuse
tap_case stall.ended_outside ended_outside uffd
tap_done
