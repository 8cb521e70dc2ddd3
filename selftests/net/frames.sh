#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Frames that refer to memory of processes: how they are marked and sent. A module looks at each frame of nla.
#
#	namespace A: nla on ea, hroce_frames <----- veth -----> namespace B: nlb on eb

. "$(dirname "$0")/lib.sh"

seen() { cat "/sys/module/hroce_frames/parameters/$1"; }

modules=$(dirname "${VM_KO:?}")/selftests/frames

watch_frames() {
	ip netns exec "$nsA" insmod "$modules/hroce_frames.ko" device=ea
}

# usage: marked LISTS COMMAND...: memory is referred to, if LISTS also by sk_buffs in lists, and each of them says so
marked() {
	local want_lists=$1 frames lists unmarked

	shift
	frames=$(seen frames) lists=$(seen lists) unmarked=$(seen unmarked)
	"$@" || return
	frames=$(($(seen frames) - frames)) lists=$(($(seen lists) - lists)) unmarked=$(($(seen unmarked) - unmarked))
	echo "$frames sk_buffs, $lists in lists, $unmarked not marked"
	[ "$frames" -gt 50 ] && [ "$unmarked" = 0 ] && [ "$((lists > 0))" = "$want_lists" ]
}

single() {
	knob nla gso N && marked 0 traffic -n 100 && knob nla gso Y
}

without_lists() {
	local end

	ip netns exec "$nsA" ethtool -K ea tx-scatter-gather-fraglist off || return
	marked 0 traffic -n 200 || return
	ip netns exec "$nsA" ethtool -K ea tx-scatter-gather-fraglist on
}

# Memory that may be taken away is locked while it is read, and never while a frame is sent.
unlocked() {
	local locked

	locked=$(seen locked)
	HROCE_DEV=nla HROCE_DEV2=nlb "$build/odp" local both || return
	locked=$(($(seen locked) - locked))
	echo "$locked frames sent with a region locked"
	[ "$locked" = 0 ]
}

# The kernel may send pages that count no references, behind one that does: nothing refers to those.
kernel_memory() {
	local status=0

	knob nla local N && insmod "$modules/hroce_kmem.ko" device=nla || status=1
	[ "$status" != 0 ] || rmmod hroce_kmem
	knob nla local Y
	return "$status"
}

# usage: capture NAMESPACE: a packet socket that nobody reads; sets $!
capture() {
	ip netns exec "$1" python3 -c 'import signal, socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
signal.pause()' &
	wait_for 10 ip netns exec "$1" grep -q ' 0003 ' /proc/net/packet
}

# Clones of frames stay in packet sockets: that holds no completion up.
captured() {
	local pids status=0

	capture "$nsA" && pids=$! && capture "$nsB" && pids+=" $!" || return
	traffic -n 300 -x 1000000 || status=1
	# shellcheck disable=SC2086
	kill $pids && wait $pids 2>/dev/null
	return "$status"
}

two_ends || { tap_case frames.topology false; tap_done; exit 1; }
tap_case frames.watched watch_frames
[ "$tap_failures" = 0 ] || { tap_done; exit 1; }
tap_case frames.lists_marked marked 1 traffic -n 200
tap_case frames.supers_marked without_lists
tap_case frames.single_marked single
tap_case frames.captured captured
[ ! -e /proc/lockdep ] || tap_case frames.sent_unlocked unlocked
tap_case frames.pages_without_count kernel_memory
rmmod hroce_frames
tap_done
