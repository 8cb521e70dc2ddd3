#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Each packet a frame of its own between two links: data of all services, impairments, and netdevs that change, go and
# come back while traffic runs. HROCE_WAY says what is in between (lib/way.sh): "wire" or "cards".
#
# Must run in a guest without links of its own (run --no-load): the module is loaded and unloaded here.

. "$(dirname "$0")/lib.sh"

# usage: statistic NAMESPACE NETDEV NAME
statistic() { ip netns exec "$1" cat "/sys/class/net/$2/statistics/$3"; }

# Frames that have come out of what A's netdev sent.
frames_behind_a() {
	if [ "$way" = wire ]; then statistic "$far" trunk rx_packets; else statistic "$nsB" eb rx_packets; fi
}

# hroce sends super-packets, and all of their packets cross as frames. How many packets one has is a matter of what the
# window leaves room for, and behind slow cards that is little. How many are merged again depends on how many a poll of
# the receiver finds; gro.sh has the cases.
frames_are_single() {
	local passed sent super merged

	passed=$(frames_behind_a) sent=$(counter nla tx_packets) super=$(counter nla tx_frames)
	merged=$(counter nlb rx_frames)
	traffic -n 100 -x 500000 || return
	passed=$(($(frames_behind_a) - passed)) sent=$(($(counter nla tx_packets) - sent))
	super=$(($(counter nla tx_frames) - super)) merged=$(($(counter nlb rx_frames) - merged))
	echo "$sent packets in $super frames, $passed on the way, $merged received"
	[ "$sent" -gt 500 ] && [ $((super * 20)) -lt $((sent * 19)) ] && [ "$passed" -ge "$sent" ]
}

# usage: each_netdev COMMAND...: with "NAMESPACE NETDEV" for {} of all netdevs on the way
each_netdev() {
	local place places=("$nsA ea" "$nsB eb")

	[ "$way" != wire ] ||
		places+=("$near edge" "$near trunk" "$near br0" "$far edge" "$far trunk" "$far br0")
	for place in "${places[@]}"; do
		# shellcheck disable=SC2086 # two words
		"$@" $place || return
	done
}

# usage: await_carrier NAMESPACE NETDEV: a card that sets its rings up anew is without one for two seconds
await_carrier() {
	local end=$((SECONDS + 30))

	until ip -n "$1" link show "$2" | grep -q 'state UP'; do
		[ "$SECONDS" -lt "$end" ] || { echo "$2 does not come up"; return 1; }
		sleep 0.5
	done
}

# usage: set_mtu MTU NAMESPACE NETDEV
set_mtu() { ip -n "$2" link set "$3" mtu "$1"; }

# usage: mtu_of_all MTU
mtu_of_all() {
	each_netdev set_mtu "$1" && await_carrier "$nsA" ea && await_carrier "$nsB" eb
}

small_mtu() {
	local status=0

	mtu_of_all 1500 || return
	traffic -n 200 -x 200000 && HROCE_FAMILY=6 traffic -n 100 || status=1
	mtu_of_all 4200 && return $status
}

# usage: on_exits COMMAND...: tc with this for qdiscs where single packets leave, in both directions
on_exits() {
	local exits=("$nsA ea" "$nsB eb") it

	[ "$way" != wire ] || exits=("$near edge" "$far edge")
	for it in "${exits[@]}"; do
		tc -n "${it% *}" qdisc "$1" dev "${it#* }" root "${@:2}" || return
	done
}

# usage: impaired NETEM...: packet by packet, so cards must not get super-packets
impaired() {
	if [ "$way" = cards ]; then knob nla gso N && knob nlb gso N || return; fi
	keep_neighbours && on_exits add netem limit 10000 "$@"
}

unimpaired() { on_exits del && knob nla gso Y && knob nlb gso Y; }

# usage: survives COUNTER "NETEM..." TRAFFIC...: data is right, and the receiver's counter shows that it was needed
survives() {
	local name=$1 before status=0

	before=$(counter nlb "$name")
	# shellcheck disable=SC2086
	impaired $2 || return
	traffic "${@:3}" || status=1
	unimpaired || return
	echo "$name: $(($(counter nlb "$name") - before))"
	[ $status = 0 ] && [ "$(counter nlb "$name")" -gt "$before" ]
}

# usage: traffic_goes_on COMMAND...: nothing fails, and all is well afterwards
traffic_goes_on() { vt_options='-e 19' under_traffic "$@" && [ "$traffic_status" = 0 ] && traffic -n 30; }

mtu_grows_and_shrinks() { mtu_of_all 6000 && mtu_of_all 4200; }

# usage: toggle NAMESPACE NETDEV
toggle() {
	local offload

	for offload in gro sg; do
		ip netns exec "$1" ethtool -K "$2" $offload off && ip netns exec "$1" ethtool -K "$2" $offload on || return
	done
}
offloads_change() { toggle "$nsA" ea && toggle "$nsB" eb; }

# The card gives up what it has received and starts anew
rings_change() {
	ip netns exec "$nsB" ethtool -G eb rx 128 && await_carrier "$nsB" eb
}

# usage: flap: both netdevs, one after the other
flap() {
	ip -n "$nsA" link set ea down && ip -n "$nsA" link set ea up && await_carrier "$nsA" ea &&
		ip -n "$nsB" link set eb down && ip -n "$nsB" link set eb up && await_carrier "$nsB" eb
}

gone() { [ ! -e "/sys/class/infiniband/$1" ]; }
nothing_left() { gone "$1" || [[ $(rdma resource show "$1") =~ qp\ [01]\ .*cm_id\ 0\ mr\ 0\ ctx\ 0\ srq\ 0 ]]; }

# usage: is_lost COMMAND...: takes nla's netdev or nla itself away: traffic ends with an error, and nothing of it is left
# on the other link, unless that is gone, too; then all is made anew, and works
is_lost() {
	if gone nla; then fresh || return; fi
	under_traffic "$@" || return
	[[ $traffic_status = [25] ]] || return
	wait_for 20 gone nla && wait_for 20 nothing_left nlb || return
	fresh && traffic -n 50
}

# With an ICRC, though all of it is one host.
fresh() {
	cleanup
	two_ends && knob nla elide_icrc N && knob nlb elide_icrc N
}

device_of() { ip netns exec "$1" readlink -f "/sys/class/net/$2/device"; }
pci_device_of() {
	local device

	device=$(device_of "$@")
	[[ $device != */virtio* ]] || device=${device%/*}
	echo "$device"
}

# The driver lets go of the card, and takes it again.
driver_is_unbound() {
	local device driver

	device=$(device_of "$nsA" ea) && driver=$(readlink -f "$device/driver") || return
	echo "${device##*/}" >"$driver/unbind" && echo "${device##*/}" >"$driver/bind"
}

driver_is_unloaded() {
	local driver

	driver=$(readlink -f "$(device_of "$nsA" ea)/driver/module") && rmmod "${driver##*/}"
}

# As if it had been pulled out.
card_is_removed() {
	local device

	device=$(pci_device_of "$nsA" ea) && echo 1 >"$device/remove" && [ ! -e "$device" ] && echo 1 >/sys/bus/pci/rescan
}

netdev_is_deleted() { ip -n "$nsA" link del ea; }

# No frame, queue pair or region holds the module.
unloads() {
	cleanup
	gone nla && gone nlb && rmmod hroce
}

modprobe -a rdma_ucm ib_uverbs hroce || { tap_case way.load false; tap_done; exit 1; }
# Not in a subshell, so that the clean-up knows of what there is.
fresh || { tap_case way.topology false; tap_done; exit 1; }
tap_case way.frames_are_single frames_are_single
tap_case way.uc traffic -t uc -n 100
tap_case way.ud traffic -t ud -n 100
tap_case way.small_mtu small_mtu
tap_case way.loss survives nak_seq_sent 'loss 4%' -n 150 -x 100000 -e 14
if [ "$way" = cards ]; then
	tap_case way.rings_change traffic_goes_on rings_change
	tap_case way.driver_is_unbound is_lost driver_is_unbound
	tap_case way.driver_is_unloaded is_lost driver_is_unloaded
	tap_case way.card_is_removed is_lost card_is_removed
else
	tap_case way.offloads_change traffic_goes_on offloads_change
	HROCE_FAMILY=6 tap_case way.rc_ipv6 traffic -n 100
	tap_case way.reordering survives nak_seq_sent 'delay 2ms reorder 90%' -n 100 -x 100000 -e 14
	tap_case way.duplication survives duplicates 'duplicate 5%' -n 150 -x 100000 -e 14
	tap_case way.corruption survives nak_seq_sent 'corrupt 4%' -n 150 -x 100000 -e 14
	tap_case way.mtu_changes traffic_goes_on mtu_grows_and_shrinks
	tap_case way.netdevs_go_down_and_up traffic_goes_on flap
	tap_case way.link_is_deleted is_lost rdma link del nla
	tap_case way.netdev_is_deleted is_lost netdev_is_deleted
fi
tap_case way.unloads unloads
tap_done
