#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# usage: sharing.sh PROGRAMS
#
# Inside a guest with two CPUs: work that two CPUs share, or should not share, on two links of a veth pair and on one
# link, and leave in $VM_OUT
#   windows	a line for each window: topology, workload, messages
#   kallsyms, vmallocinfo, allocations	what is at which address of the kernel
# Allocations of this process and its children are traced until the first window begins.

set -eu
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../../lib/programs.sh"
programs=$1
tracing=/sys/kernel/tracing

# usage: sharing TOPOLOGY LINK LINK
sharing() {
	echo 1 >"$tracing/tracing_on"
	"$programs/sharing" "$1" "$2" "$(gid_index "$2" 0000:0000:0000:0000:0000:ffff)" \
		"$3" "$(gid_index "$3" 0000:0000:0000:0000:0000:ffff)" "$tracing/tracing_on" >>"$VM_OUT/windows"
}

modprobe hroce
echo 0 >"$tracing/options/hash-ptr"
echo 1 >"$tracing/options/event-fork"
echo $$ >"$tracing/set_event_pid"
echo 'bytes_req >= 64' >"$tracing/events/kmem/kmalloc/filter"
echo 1 >"$tracing/events/kmem/kmalloc/enable"
ip link add ha mtu 9000 address 02:00:00:00:92:01 type veth peer name hb mtu 9000 address 02:00:00:00:92:02
put_hroce_on ha hb
for link in hroce0 hroce1; do
	echo N >"/sys/kernel/debug/hroce/$link/elide_icrc"
done
sharing veth hroce0 hroce1
sharing local hroce0 hroce0
cat "$tracing/trace" >"$VM_OUT/allocations"
cat /proc/vmallocinfo >"$VM_OUT/vmallocinfo"
cat /proc/kallsyms >"$VM_OUT/kallsyms"
