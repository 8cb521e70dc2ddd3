# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# How the netdevs of two ends are joined, as HROCE_WAY says. Source it.
#
#   veth	a veth pair: super-packets cross it as they are. What is not told otherwise.
#   wire	two bridges in between, each in a namespace of its own:
#
#			end A == S == T == end B
#
#		S, or T on the way back, cuts super-packets and makes each packet a frame in one piece; the end that receives
#		them merges them, as from a network.
#   cards	two emulated cards on one hub (lib/cards), with drivers, interrupts and rings of the kernel

way=${HROCE_WAY:-veth}
near=wayS-$$
far=wayT-$$

# usage: in_ns NAMESPACE COMMAND...; an empty name is where we are
in_ns() {
	local ns=$1

	shift
	if [ -n "$ns" ]; then ip netns exec "$ns" "$@"; else "$@"; fi
}

# usage: find_netdev PATTERN: the netdev with this MAC address, where we are
find_netdev() {
	local file end=$((SECONDS + 20))

	until file=$(grep -lx "$1" /sys/class/net/*/address); do
		[ "$SECONDS" -lt "$end" ] || { echo "no netdev has the address $1" >&2; return 1; }
		sleep 0.1
	done
	file=${file%/address}
	echo "${file##*/}"
}

# usage: add_veth MTU NAMESPACE NETDEV NAMESPACE NETDEV
add_veth() {
	ip link add name "$3" mtu "$1" ${2:+netns "$2"} type veth peer name "$5" mtu "$1" ${4:+netns "$4"}
}

# usage: add_bridge MTU NAMESPACE
add_bridge() {
	ip netns add "$2" && ip -n "$2" link add br0 mtu "$1" type bridge && ip -n "$2" link set br0 up
}

# usage: add_port NAMESPACE NETDEV [OFFLOAD...]: of a bridge, with these switched off
add_port() {
	local ns=$1 dev=$2 offload switches=()

	shift 2
	for offload; do switches+=("$offload" off); done
	ip -n "$ns" link set "$dev" master br0 up || return
	[ $# = 0 ] || ip netns exec "$ns" ethtool -K "$dev" "${switches[@]}"
}

# usage: join_by_bridges MTU NAMESPACE NETDEV NAMESPACE NETDEV
join_by_bridges() {
	local none=(tso gso tx-udp-segmentation sg)

	add_bridge "$1" "$near" && add_bridge "$1" "$far" || return
	add_veth "$1" "$2" "$3" "$near" edge && add_veth "$1" "$near" trunk "$far" trunk &&
		add_veth "$1" "$far" edge "$4" "$5" || return
	add_port "$near" edge && add_port "$near" trunk "${none[@]}" &&
		add_port "$far" trunk "${none[@]}" && add_port "$far" edge || return
	in_ns "$2" ethtool -K "$3" gro on && in_ns "$4" ethtool -K "$5" gro on
}

# The drivers of all cards that have none, as no udev loads them.
load_drivers() {
	local device

	for device in /sys/bus/pci/devices/* /sys/bus/virtio/devices/*; do
		[ -e "$device/driver" ] || [[ $device == */pci/* && $(<"$device/class") != 0x0200* ]] ||
			modprobe "$(<"$device/modalias")" || return
	done
}

# usage: take_card NUMBER MTU NAMESPACE NETDEV
take_card() {
	local dev

	dev=$(find_netdev "52:54:00:9.:00:0$1") && ip link set "$dev" down || return
	[ "$dev" = "$4" ] || ip link set "$dev" name "$4" || return
	[ -z "$3" ] || ip link set "$4" netns "$3" || return
	in_ns "$3" ip link set "$4" mtu "$2"
}

# usage: join_ends MTU NAMESPACE NETDEV NAMESPACE NETDEV; an empty namespace is where we are
join_ends() {
	case $way in
	veth) add_veth "$@" ;;
	wire) join_by_bridges "$@" ;;
	cards) load_drivers && take_card 1 "$1" "$2" "$3" && take_card 2 "$1" "$4" "$5" ;;
	*) echo "HROCE_WAY is none of veth, wire, cards: $way"; return 1 ;;
	esac
}

# Take away what is between the ends. Cards return by themselves when their namespaces go.
unjoin() {
	[ "$way" != wire ] || { ip netns del "$near"; ip netns del "$far"; } 2>/dev/null
}
