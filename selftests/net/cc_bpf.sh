#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# BPF programs control congestion: the example of the documentation, and others that do what they should not. They come
# and go while traffic flows.
#
# usage: cc_bpf.sh [brief]: brief leaves out cases that take the same paths as others
#
# Must run in a guest without links of its own (run --no-load): the module is loaded and unloaded here.

. "$(dirname "$0")/lib.sh"

part=${1:-}
objects=$PWD/../build/selftests-bpf
said=/tmp/cc-$id

mount -t bpf bpf /sys/fs/bpf 2>/dev/null

# usage: cc NAME|off: of an object file
cc() {
	[ "$1" = off ] || set -- "$objects/$1.bpf.o"
	../user/tool/hroce cc "$1" >"$said" 2>&1 || { cat "$said"; return 1; }
}

# usage: refused NAME WORDS: the command says why
refused() { ! cc "$1" && grep -q "$2" "$said" && [ "$(../user/tool/hroce cc)" = "${3:-off}" ]; }

# BPF alone is not enough.
no_admin() {
	! setpriv --bounding-set -net_admin ../user/tool/hroce cc "$objects/fixed.bpf.o" >"$said" 2>&1 &&
		grep -q 'not permitted' "$said" && [ "$(../user/tool/hroce cc)" = off ]
}

# usage: chosen LINK: the controls, that of new queue pairs in brackets
chosen() { cat "/sys/kernel/debug/hroce/$1/cc"; }

# usage: states: control and window of nla's queue pairs that send
states() {
	rdma -dd resource show qp link nla/1 |
		sed -n 's/.*type RC state RTS.* drv_cc \([a-z]*\) .*drv_window_pkts \([0-9]*\) .*drv_in_flight_pkts \([0-9]*\) .*/\1 \2 \3/p'
}

# usage: qp_windows: number and window of those that follow the program
qp_windows() {
	rdma -dd resource show qp link nla/1 |
		sed -n 's/.*lqpn \([0-9]*\) .*type RC state RTS.* drv_cc bpf .*drv_window_pkts \([0-9]*\) .*/\1 \2/p'
}

# usage: is_state PATTERN: there are some, and all match
is_state() { states >"$said" && [ -s "$said" ] && ! grep -vqE "^($1)\$" "$said"; }

# usage: becomes PATTERN
becomes() { wait_for 30 is_state "$1" || { cat "$said"; return 1; }; }

nothing_there() {
	local control words

	[ "$(chosen nla)" = "none [delay] dcqcn" ] || return
	for control in "cc bpf" "cc_class 3|bpf" "cc_qp 17|bpf"; do
		words=${control#* }
		knob nla "${control%% *}" "${words/|/ }" 2>"$said" && return 1
		grep -q 'No such file' "$said" || { cat "$said"; return 1; }
	done
}

# usage: flow COMMAND...: while traffic flows, which all arrives
flow() { under_traffic "$@" && [ "$traffic_status" = 0 ]; }

# The window is the program's. It changes as packets are marked, which the program is told.
marks() {
	becomes 'bpf 7 [0-7]' && ip netns exec "$nsA" nft -f - <<-NFT || return
	table inet t {
		chain c {
			type filter hook postrouting priority 0; policy accept;
			udp dport 4791 ip ecn set ce
		}
	}
	NFT
	becomes 'bpf 5 [0-5]' && ip netns exec "$nsA" nft flush ruleset
}

fixed() {
	cc fixed && [ "$(chosen nla)" = "none [delay] dcqcn bpf" ] && knob nla cc bpf &&
		[ "$(chosen nla)" = "none delay dcqcn [bpf]" ] && HROCE_FAMILY=4 flow marks
}

only_one() {
	refused aimd 'already' on && mv /sys/fs/bpf/hroce_cc /sys/fs/bpf/other && refused aimd 'busy.*another' &&
		mv /sys/fs/bpf/other /sys/fs/bpf/hroce_cc
}

any_fixed() { states | grep -q '^bpf 7 '; }

# Queue pairs go on with the default. The next program starts with those that begin, and with those that are told to.
goes_and_comes() {
	local qpn

	becomes 'bpf 7 .*' && cc off && becomes 'delay .*' && [ "$(chosen nla)" = "none delay dcqcn [bpf]" ] &&
		! knob nla cc bpf 2>/dev/null && cc fixed && sleep 1 && is_state 'delay .*' || return
	qpn=$(rdma -dd resource show qp link nla/1 | sed -n 's/.*lqpn \([0-9]*\) .*type RC state RTS.*/\1/p' | head -n 1)
	knob nla cc_qp "$qpn bpf" && wait_for 20 any_fixed && cc off
}

# usage: moves: within half a minute a window has grown and one has shrunk
moves() {
	local end=$((SECONDS + 30))

	while [ $SECONDS -lt $end ]; do qp_windows || break; done | tee "$said" | awk '
		$1 in window && $2 > window[$1] { grown = 1 }
		$1 in window && $2 < window[$1] { shrunk = 1 }
		grown && shrunk { exit }
		{ window[$1] = $2 }
		END { exit !(grown && shrunk) }' || { tail -n 20 "$said"; return 1; }
}

example() { cc aimd && flow moves && cc off; }

bounded() { becomes 'bpf [1-9][0-9]{0,4} .*' && sleep 1 && is_state 'bpf [1-9][0-9]{0,4} .*'; }
nonsense() { cc nonsense && flow bounded && cc off; }

# Datagrams and UC have no round trips.
others() { cc nonsense && traffic -t ud -n 10 && traffic -t uc -n 10 && cc off; }

link_goes() { becomes 'bpf 7 .*' && rdma link del nla; }
link_removed() {
	cc fixed && under_traffic link_goes
	[ ! -e /sys/class/infiniband/nla ] && add_link "$nsA" nla ea && [ "$(chosen nla)" = "none [delay] dcqcn bpf" ] &&
		traffic -n 10 && cc off
}

unloads() { rmmod hroce 2>/dev/null; }
module_held() {
	cc fixed && rdma link del nla && rdma link del nlb && ! unloads && cc off && wait_for 30 unloads &&
		modprobe hroce && add_link "$nsA" nla ea && add_link "$nsB" nlb eb && cc fixed && knob nla cc bpf &&
		flow becomes 'bpf 7 [0-7]' && cc off
}

two_ends || { tap_case cc_bpf.topology false; tap_done; exit 1; }
tap_case cc_bpf.nothing_there nothing_there
tap_case cc_bpf.forbidden refused forbidden 'only window_pkts and priv'
tap_case cc_bpf.fixed fixed
[ "$part" = brief ] || tap_case cc_bpf.only_one only_one
tap_case cc_bpf.goes_and_comes flow goes_and_comes
for it in example nonsense; do tap_case "cc_bpf.$it" "$it"; done
if [ "$part" != brief ]; then
	tap_case cc_bpf.incomplete refused incomplete 'must have measured'
	tap_case cc_bpf.no_admin no_admin
	tap_case cc_bpf.without flow becomes 'delay .*'
	for it in others link_removed module_held; do tap_case "cc_bpf.$it" "$it"; done
fi
tap_done
