# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Namespaces, links and traffic for the network tests; source it. What is made here is taken away on exit.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
# shellcheck source=selftests/lib/tap.sh
. lib/tap.sh
# shellcheck source=selftests/lib/way.sh
. lib/way.sh

build=${VT_BUILD:-$PWD/../build/selftests-verbs}
export VT_BUILD=$build
id=$$
nsA=neA-$id
nsB=neB-$id
namespaces=()
links=()

cleanup() {
	local it

	for it in "${links[@]}"; do rdma link del "$it" 2>/dev/null; done
	for it in "${namespaces[@]}"; do
		ip netns pids "$it" 2>/dev/null | xargs -r kill -9 2>/dev/null
		ip netns del "$it" 2>/dev/null
	done
	unjoin
	links=()
	namespaces=()
}
trap cleanup EXIT

# An address is answered for by its own netdev only: links that share a network would take each other's packets.
new_ns() {
	namespaces+=("$1")
	ip netns add "$1" && ip -n "$1" link set lo up && ip netns exec "$1" sysctl -qw net.ipv4.conf.all.arp_ignore=1
}

# usage: add_link NAMESPACE LINK NETDEV: with HROCE_XDP it receives by an XDP program, see xdp.sh
add_link() {
	ip netns exec "$1" rdma link add "$2" type hroce netdev "$3" || return
	links+=("$2")
	[ -z "${HROCE_XDP:-}" ] || xdp_on "$1" "$2" "$3"
}

# usage: xdp NAMESPACE LINK [on|off]
xdp() { ip netns exec "$1" ../user/tool/hroce xdp "${@:2}"; }

# usage: keep_tags NAMESPACE NETDEV: VLAN tags stay in frames, whatever of that the netdev does by itself
keep_tags() {
	ip netns exec "$1" ethtool -K "$2" rxvlan off rx-vlan-stag-hw-parse off txvlan off tx-vlan-stag-hw-insert off
}

# usage: xdp_on NAMESPACE LINK NETDEV
xdp_on() {
	keep_tags "$1" "$3" 2>/dev/null
	xdp "$1" "$2" on
}

# usage: takes COMMAND...: $to, or nlb, gets frames from its XDP program meanwhile, at least $share percent (90) of all
takes() {
	local link=${to:-nlb} xdp frames

	xdp=$(counter "$link" rx_xdp) frames=$(counter "$link" rx_frames)
	"$@" || return
	xdp=$(($(counter "$link" rx_xdp) - xdp)) frames=$(($(counter "$link" rx_frames) - frames))
	echo "$xdp of $frames frames"
	[ "$xdp" -gt 50 ] && [ $((xdp * 100)) -ge $((frames * ${share:-90})) ]
}

# usage: leaves COMMAND...: $to, or nlb, gets frames meanwhile, none from its XDP program
leaves() {
	local link=${to:-nlb} xdp frames

	xdp=$(counter "$link" rx_xdp) frames=$(counter "$link" rx_frames)
	"$@" || return
	echo "$(($(counter "$link" rx_xdp) - xdp)) of $(($(counter "$link" rx_frames) - frames)) frames"
	[ "$(counter "$link" rx_xdp)" = "$xdp" ] && [ "$(counter "$link" rx_frames)" -gt "$frames" ]
}

# usage: address NAMESPACE NETDEV NUMBER [NET]: 10.NET.0.NUMBER and fdNET::NUMBER (NET 90 by default)
address() {
	ip -n "$1" link set "$2" up &&
		ip -n "$1" address add "10.${4:-90}.0.$3/24" dev "$2" &&
		ip -n "$1" address add "fd${4:-90}::$3/64" dev "$2" nodad
}

# usage: reaches NAMESPACE ADDRESS...: wait until they answer; the first resolution over something new takes its time,
# but ib_core grants it a second.
reaches() {
	local ns=$1 address

	shift
	for address; do
		wait_for 10 ip netns exec "$ns" ping -c 1 -W 1 "$address" || return
	done
}

# Two namespaces, with netdevs ea and eb of MTU $1 that are joined as HROCE_WAY says (lib/way.sh), by default by being a
# veth pair; with link nla on ea and link nlb on eb unless $2 is "bare".
two_ends() {
	new_ns "$nsA" && new_ns "$nsB" || return
	join_ends "${1:-4200}" "$nsA" ea "$nsB" eb || return
	address "$nsA" ea 1 && address "$nsB" eb 2 && reaches "$nsA" 10.90.0.2 fd90::2 || return
	[ "${2:-}" = bare ] || { add_link "$nsA" nla ea && add_link "$nsB" nlb eb; }
}

# Two links in each of two namespaces: nla and nlb on one veth pair, nlc and nld on another.
two_pairs() {
	new_ns "$nsA" && new_ns "$nsB" &&
		ip link add ea netns "$nsA" mtu 4200 type veth peer name eb netns "$nsB" mtu 4200 &&
		ip link add ec netns "$nsA" mtu 4200 type veth peer name ed netns "$nsB" mtu 4200 &&
		address "$nsA" ea 1 90 && address "$nsB" eb 2 90 && address "$nsA" ec 1 91 && address "$nsB" ed 2 91 &&
		reaches "$nsA" 10.90.0.2 fd90::2 10.91.0.2 fd91::2 &&
		add_link "$nsA" nla ea && add_link "$nsB" nlb eb && add_link "$nsA" nlc ec && add_link "$nsB" nld ed
}

# A lost question for a neighbour is repeated after a second, and ib_core waits for no longer.
keep_neighbours() {
	local ns to dev kind mac

	for ns in "$nsA" "$nsB"; do
		while read -r to _ dev kind mac _; do
			[ "$kind" != lladdr ] ||
				ip -n "$ns" neigh replace "$to" lladdr "$mac" dev "$dev" nud permanent || return
		done < <(ip -n "$ns" neigh show)
	done
}

# Both ends at a bridge in a third namespace, $nsS; with link nla on ea and link nlb on eb. What leaves sb goes to eb.
bridged_ends() {
	local dev

	nsS=neS-$id
	new_ns "$nsA" && new_ns "$nsB" && new_ns "$nsS" || return
	ip link add ea netns "$nsA" mtu 4200 type veth peer name sa netns "$nsS" mtu 4200 &&
		ip link add eb netns "$nsB" mtu 4200 type veth peer name sb netns "$nsS" mtu 4200 &&
		ip -n "$nsS" link add br0 mtu 4200 type bridge && ip -n "$nsS" link set br0 up || return
	for dev in sa sb; do ip -n "$nsS" link set "$dev" master br0 up || return; done
	address "$nsA" ea 1 && address "$nsB" eb 2 && reaches "$nsA" 10.90.0.2 fd90::2 &&
		add_link "$nsA" nla ea && add_link "$nsB" nlb eb
}

# usage: of_queue NAMESPACE NETDEV NAME: a number that tc tells about its queue, of several the innermost
of_queue() { tc -s -j -n "$1" qdisc show dev "$2" | sed "s/.*\"$3\":\([0-9]*\).*/\1/"; }

# usage: traffic ARGUMENTS...: verified traffic from nla to nlb
traffic() { HROCE_DEV=${from:-nla} HROCE_DEV2=${to:-nlb} timeout -s KILL 120 "$build/vt_traffic" "$@"; }

# usage: expect STATUS COMMAND...
expect() {
	local want=$1 status=0

	shift
	"$@" || status=$?
	[[ " $want " == *" $status "* ]] || { echo "exit status $status, expected $want: $*"; return 1; }
}

# usage: knob LINK NAME VALUE: a switch in debugfs
knob() {
	[ -d /sys/kernel/debug/hroce ] || mount -t debugfs debugfs /sys/kernel/debug
	echo "$3" >"/sys/kernel/debug/hroce/$1/$2"
}

# usage: control NAME: of queue pairs of both ends that begin to send from now on
control() { knob nla cc "$1" && knob nlb cc "$1"; }

# usage: counter LINK NAME
counter() { cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"; }

# usage: grows LINK NAME FROM BY: has it grown by at least BY since it was FROM?
grows() { [ "$(counter "$1" "$2")" -ge $(($3 + $4)) ]; }

# usage: under_traffic COMMAND...: run it while traffic flows (vt_options are its own), and a second longer, however
# long a slow machine takes; its status is the command's, that of the traffic is left in traffic_status.
under_traffic() {
	local pid before status=0

	before=$(counter "${from:-nla}" tx_packets)
	# shellcheck disable=SC2086
	traffic -T 100 ${vt_options:-} >"/tmp/traffic-$id" 2>&1 &
	pid=$!
	wait_for 30 grows "${from:-nla}" tx_packets "$before" 300 || status=1
	[ "$status" != 0 ] || "$@" || status=$?
	sleep 1
	pkill -x vt_traffic
	wait "$pid"
	traffic_status=$?
	cat "/tmp/traffic-$id"
	echo "status of the traffic: $traffic_status"
	return "$status"
}

# usage: stream_begins write|read LINK: a megabyte each, by one queue pair of nla, to LINK (nlb or nla), until stream_ends
stream_begins() {
	local load=$PWD/../build/selftests-bench/load options=(-b -x 1 -p 18900 -o "$1" -s 1000000 -t 2 -D 100 -e)

	ip netns exec "$nsB" "$load" -d nlb "${options[@]}" >/dev/null 2>&1 &
	wait_for 20 ip netns exec "$nsB" bash -c "ss -Hltn 'sport = 18900' | grep -q ." || return
	ip netns exec "$nsA" "$load" -d nla "${options[@]}" 10.90.0.2 >/dev/null 2>&1 &
	streamer=$!
	wait_for 20 grows "$2" rx_packets "$(counter "$2" rx_packets)" 1000
}
stream_ends() {
	kill $streamer
	wait
}

# usage: pauses COUNTER NUMBER: stop the stream for a moment, up to NUMBER times, until COUNTER of nla has grown
pauses() {
	local i before

	before=$(counter nla "$1")
	for ((i = 1; i <= $2; i++)); do
		sleep 0.2
		kill -STOP $streamer && sleep 0.1 && kill -CONT $streamer || return
		[ "$(counter nla "$1")" = "$before" ] || { echo "$1 has grown after $i pauses"; return 0; }
	done
	return 1
}

# UDP source port of requests of the only queue pair of nla, on its first way
sport() { rdma -dd resource show qp link nla | sed -n 's/.*type RC.* drv_udp_sport \([0-9]*\) .*/\1/p'; }

# Whether the kernel said anything since the marker; for noise that is no bug but must not be there either.
mark_log() { echo "hroce selftest $id $1" >/dev/kmsg; }
log_since() { dmesg | sed -n "/hroce selftest $id $1/,\$p" | tail -n +2; }
