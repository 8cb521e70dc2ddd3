# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the tests of all kernel consumers need. Source it after tap.sh, at the top of the tree.

blockio() { build/selftests-ulp/blockio "$@"; }

# usage: ulp_need MODULE...
# Skip everything, naming them, if modules are missing.
ulp_need() {
	local module missing=()

	for module in "$@"; do
		modprobe -n -q "$module" || missing+=("$module")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	tap_skip_all "no module ${missing[*]}"
}

# usage: resources LINK
# What exists on a link, less the CQs, which ib_core keeps for the next who asks.
resources() { rdma resource show "$1" | sed 's/ cq [0-9]*//'; }

# usage: nothing_left LINK RESOURCES
nothing_left() {
	wait_for 10 same_resources "$@" && return
	rdma resource show "$1"
	rdma resource show qp
	rdma resource show cm_id
	return 1
}

same_resources() { [ "$(resources "$1")" = "$2" ]; }
