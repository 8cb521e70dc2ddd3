#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run the verbs tests inside a guest.
#
#	run.sh wire|self [PROGRAM...]
#	run.sh wire|self !PROGRAM...		all but these
#
# wire: every case runs between two links, each in a network namespace:
#
#	namespace vtA-PID                    namespace vtB-PID
#	+---------------------+              +---------------------+
#	| link vta (hroce)    |              | link vtb (hroce)    |
#	| veth va 10.88.0.1   |<------------>| veth vb 10.88.0.2   |
#	|         fd88::1     |   MTU 4200   |         fd88::2     |
#	+---------------------+              +---------------------+
#
# With HROCE_WAY=wire, frames pass two bridges in between; with HROCE_WAY=cards va and vb are cards (lib/way.sh).
#
# self: one link, vta, talks to itself.
#
# HROCE_TYPE=rxe tests rdma_rxe instead, with which the tests were developed; it knows only the initial namespace
# and so only "self". VT_BUILD is where the programs are (default build/selftests-verbs).

cd "$(dirname "$0")/.." || exit 1
# shellcheck source=selftests/lib/tap.sh
. lib/tap.sh
# shellcheck source=selftests/lib/way.sh
. lib/way.sh

build=${VT_BUILD:-$PWD/../build/selftests-verbs}
read -ra programs <"$build/tests"
type=${HROCE_TYPE:-hroce}
exporter=
pmem=
mode=${1:-}
case $mode in
wire | self) ;;
*) echo "usage: run.sh wire|self [PROGRAM...]" >&2; exit 2 ;;
esac
shift
case ${1:-} in
'') ;;
!*) mapfile -t programs < <(printf '%s\n' "${programs[@]}" | grep -vxF "$(printf '%s\n' "${@#!}")") ;;
*) programs=("$@") ;;
esac
nsA=vtA-$$
nsB=vtB-$$

cleanup() {
	rdma link del vta 2>/dev/null
	rdma link del vtb 2>/dev/null
	ip link del va 2>/dev/null
	ip netns del "$nsA" 2>/dev/null
	ip netns del "$nsB" 2>/dev/null
	unjoin
	[ -z "$exporter" ] || rmmod hroce_exporter
	[ -z "$pmem" ] || echo "$pmem" >/sys/bus/nd/drivers/dax_pmem/unbind
}

# usage: dress NAMESPACE DEVICE NUMBER
dress() {
	in_ns "$1" ip link set lo up &&
		in_ns "$1" ip link set "$2" up &&
		in_ns "$1" ip address add "10.88.0.$3/24" dev "$2" &&
		in_ns "$1" ip address add "fd88::$3/64" dev "$2" nodad
}

# A new veth pair passes packets a little later than "ip link set up" returns, and who resolves an address before that
# waits for a second and more.
reaches_peer() {
	wait_for 10 in_ns "$nsA" ping -c 1 -W 1 10.88.0.2 && wait_for 10 in_ns "$nsA" ping -c 1 -W 1 fd88::2
}

# Packets between two links of one host need no ICRC; have one nevertheless, as on a real wire, unless VT_ELIDE=1.
real_wire() {
	[ "$type" = hroce ] && [ "${VT_ELIDE:-0}" = 0 ] || return 0
	mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
	echo N >"/sys/kernel/debug/hroce/$1/elide_icrc"
}

add_links() {
	modprobe -a rdma_ucm ib_uverbs || return
	if [ "$mode" = wire ]; then
		ip netns add "$nsA" && ip netns add "$nsB" && join_ends 4200 "$nsA" va "$nsB" vb &&
			dress "$nsA" va 1 && dress "$nsB" vb 2 && reaches_peer &&
			in_ns "$nsA" rdma link add vta type "$type" netdev va &&
			in_ns "$nsB" rdma link add vtb type "$type" netdev vb && real_wire vta && real_wire vtb
	else
		add_veth 4200 "" va "" vb && ip link set vb up && dress "" va 1 && rdma link add vta type "$type" netdev va
	fi
}

# The device that the tests of dma-bufs want; without it they are skipped.
add_exporter() {
	local ko

	ko=$(dirname "${VM_KO:-}")/selftests/exporter/hroce_exporter.ko
	[ ! -e /dev/hroce_exporter ] && [ -e "$ko" ] && insmod "$ko" && exporter=loaded
}

# Persistent memory as a device that can be mapped, where the machine has some that nobody uses (memmap=16M!1G on the
# kernel's command line); without it its tests are skipped.
add_pmem() {
	local nd=/sys/bus/nd/devices

	modprobe -a -q nd_e820 dax_pmem device_dax
	[ -e "$nd/namespace0.0" ] && [ ! -e "$nd/namespace0.0/driver" ] || return
	echo ram >"$nd/dax0.0/mode" && cat /proc/sys/kernel/random/uuid >"$nd/dax0.0/uuid" &&
		echo namespace0.0 >"$nd/dax0.0/namespace" && echo dax0.0 >/sys/bus/nd/drivers/dax_pmem/bind &&
		pmem=dax0.0 && wait_for 5 test -e "/dev/$pmem" && export VT_PMEM=/dev/$pmem
} 2>/dev/null

# What only the kernel can post.
kernel_atomics() {
	insmod "$(dirname "${VM_KO:?}")/selftests/atomics/hroce_atomics.ko" device=vta && rmmod hroce_atomics
}

# A region with on-demand paging that no process has asked for.
kernel_ondemand() {
	insmod "$(dirname "${VM_KO:?}")/selftests/ondemand/hroce_ondemand.ko" device=vta && rmmod hroce_ondemand
}

# What a key gives access to while other memory is mapped.
kernel_fastreg() {
	insmod "$(dirname "${VM_KO:?}")/selftests/fastreg/hroce_fastreg.ko" device=vta && rmmod hroce_fastreg
}

# A CQ of the kernel that is freed before its last event.
kernel_freecq() {
	insmod "$(dirname "${VM_KO:?}")/selftests/freecq/hroce_freecq.ko" device=vta && rmmod hroce_freecq
}

# Queue pairs of the kernel, drained.
kernel_drain() {
	insmod "$(dirname "${VM_KO:?}")/selftests/drain/hroce_drain.ko" device=vta && rmmod hroce_drain
}

# What processes made must be gone with them; QP1 and what belongs to it stay.
nothing_left() {
	local dev=$1 have

	have=$(rdma resource show "$dev")
	echo "$have"
	[[ $have =~ qp\ [01]\ .*cm_id\ 0\ mr\ 0\ ctx\ 0\ srq\ 0 ]]
}

del_links() {
	rdma link del vta || return
	[ "$mode" = self ] || rdma link del vtb
}

trap cleanup EXIT
tap_case "links.add_$mode" add_links
add_exporter
add_pmem
[ "$tap_failures" = 0 ] || { tap_done; exit 1; }
export HROCE_DEV=vta
if [ "$mode" = wire ]; then
	export HROCE_DEV2=vtb HROCE_NS=$nsA HROCE_NS2=$nsB
fi
for program in "${programs[@]}"; do
	tap_stream '' "$build/$program"
done
[ "$mode" = wire ] || [ "$type" != hroce ] || tap_case masked.of_the_kernel kernel_atomics
[ "$mode" = wire ] || [ "$type" != hroce ] || tap_case odp.of_the_kernel kernel_ondemand
[ "$mode" = wire ] || [ "$type" != hroce ] || tap_case mr.mapped_early kernel_fastreg
[ "$mode" = wire ] || [ "$type" != hroce ] || tap_case cq.freed_before_its_event kernel_freecq
[ "$mode" = wire ] || [ "$type" != hroce ] || tap_case flush.drained_by_the_kernel kernel_drain
tap_case "links.nothing_left_$mode" nothing_left vta
[ "$mode" = self ] || tap_case "links.nothing_left_on_peer_$mode" nothing_left vtb
tap_case "links.del_$mode" del_links
tap_done
