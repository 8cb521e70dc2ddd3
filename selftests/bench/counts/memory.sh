#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# usage: memory.sh PROGRAMS SYSTEM...
#
# Inside a guest: work on links whose frames stay in memory, and leave in $VM_OUT
#   windows	a line for each window: system, topology, workload, size, messages
#   kallsyms	where the functions of the kernel are, modules included
# Netdevs are the ends of veth pairs.

set -eu
. "$(dirname "$0")/lib.sh"
programs=$1
shift
mtu=9000
bytes=65536

# usage: load SYSTEM TOPOLOGY DEVICE DEVICE
load() {
	"$programs/load" "$@" $bytes
}

# usage: rule HOOK: netfilter accepts what goes to the port, in both namespaces
rule() {
	local i

	for i in 1 2; do
		ip netns exec "counts$i" nft -f - <<-NFT
		table inet counts {
			chain $1 { type filter hook $1 priority 0; policy accept; udp dport 4791 accept; }
		}
		NFT
	done
}

# Both ways compute and check the ICRC on the wire.
run_rxe() {
	ip link add va mtu $mtu address 02:00:00:00:91:01 type veth peer name vb mtu $mtu address 02:00:00:00:91:02
	put_rxe_on va vb
	load rxe veth rxe0 rxe1
}

run_hroce() {
	local link

	ip link add ha mtu $mtu address 02:00:00:00:92:01 type veth peer name hb mtu $mtu address 02:00:00:00:92:02
	put_hroce_on ha hb
	for link in hroce0 hroce1; do
		echo N >"/sys/kernel/debug/hroce/$link/elide_icrc"
	done
	load hroce veth hroce0 hroce1
	echo Y >/sys/kernel/debug/hroce/hroce0/elide_icrc
	load hroce local hroce0 hroce0
	echo N >/sys/kernel/debug/hroce/hroce0/elide_icrc
	rule output
	load hroce rule_out hroce0 hroce1
	rule input
	load hroce rules hroce0 hroce1
	load hroce rules_lo hroce0 hroce0
	for link in hroce0 hroce1; do
		echo N >"/sys/kernel/debug/hroce/$link/strict"
	done
	load hroce unstrict hroce0 hroce1
}

for system; do
	"run_$system" >>"$VM_OUT/windows"
done
cat /proc/kallsyms >"$VM_OUT/kallsyms"
