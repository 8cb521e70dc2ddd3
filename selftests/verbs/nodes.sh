#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Verified traffic between two guests: node 2 serves, node 1 sends and judges.

cd "$(dirname "$0")/../.." || exit 1
. selftests/lib/tap.sh

build=${VT_BUILD:-build/selftests-verbs}
export HROCE_DEV=hroce0
port=18600

# usage: both NAME ARGUMENTS...
both() {
	local name=$1

	shift
	port=$((port + 1))
	if [ "$NODE" = 2 ]; then
		"$build/vt_traffic" "$@" -S "$port"
	else
		tap_case "nodes.$name" "$build/vt_traffic" "$@" -C "node2:$port"
	fi
	vm-barrier "$name"
}

both rc -n 1500 -x 100000
both rc_small_mtu -n 300 -x 30000 -m 256
both rc_one_at_a_time -n 200 -w 1
both rc_large -n 40 -x 2000000 -w 4
both uc -t uc -n 200
both ud -t ud -n 300
HROCE_FAMILY=6
export HROCE_FAMILY
both rc_ipv6 -n 500 -x 100000
both uc_ipv6 -t uc -n 100
both ud_ipv6 -t ud -n 100
[ "$NODE" != 1 ] || tap_done
