#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Links, devices and the module come and go, idle and in the middle of traffic.
#
#	namespace A: nla on ea <----- veth -----> namespace B: nlb on eb
#
# Must run in a guest without links of its own (run --no-load): the module is loaded and unloaded here.

. "$(dirname "$0")/lib.sh"

links_shown() { rdma link show | grep -c "^link nl[ab]/"; }
gone() { [ ! -e "/sys/class/infiniband/$1" ]; }
down() { rdma link show nla/1 | grep -q 'state DOWN'; }
up() { rdma link show nla/1 | grep -q 'state ACTIVE'; }

add_and_delete() {
	local i

	for i in $(seq 20); do
		add_link "$nsA" nla ea && add_link "$nsB" nlb eb || return
		[ $((i % 5)) != 0 ] || traffic -n 20 || return
		rdma link del nla && rdma link del nlb || return
		[ "$(links_shown)" = 0 ] || { echo "round $i: still there"; return 1; }
	done
}

# usage: add_one_of COUNT: so many at once for one netdev; the name of the one that is made
add_one_of() {
	local i

	for i in $(seq "$1"); do
		(ip netns exec "$nsA" rdma link add "nl$i" type hroce netdev ea 2>/dev/null && echo "nl$i") &
	done
	wait
}

added_by_many() {
	local i made

	for i in $(seq 15); do
		made=$(add_one_of 6)
		[ "$(wc -w <<<"$made")" = 1 ] || { echo "round $i: made $made"; return 1; }
		rdma link del "$made" || return
	done
}

active_mtu() { ibv_devinfo -d nla | sed -n 's/.*active_mtu:[[:blank:]]*\([0-9]*\).*/\1/p'; }

# Whatever is the case at the moment when ib_core takes the device: the last change counts.
mtu_changes_while_added() {
	local i want pid

	for i in $(seq 12); do
		want=$((i % 2 ? 1024 : 4096))
		(sleep "0.0$((RANDOM % 4))"; ip -n "$nsA" link set ea mtu $((want + 104))) &
		pid=$!
		add_link "$nsA" nla ea && wait $pid || return
		[ "$(active_mtu)" = $want ] || { echo "round $i: $(active_mtu), expected $want"; return 1; }
		rdma link del nla || return
	done
	ip -n "$nsA" link set ea mtu 4200
}

# usage: refused_as TEXT WHY NAMESPACE NAME NETDEV: the command prints TEXT, the kernel says WHY
refused_as() {
	local said

	mark_log "$2"
	! said=$(ip netns exec "$3" rdma link add "$4" type hroce netdev "$5" 2>&1) || { echo "$5 taken"; return 1; }
	[[ $said = *"$1"* ]] && log_since "$2" | grep "hroce: no link on $5: $2" || { echo "$5: $said"; dmesg | tail -3; return 1; }
}

refused_with_reason() {
	add_link "$nsA" nla ea || return
	refused_as 'File exists' 'another RDMA device has this name' "$nsB" nla eb &&
		refused_as 'File exists' 'it has a link already' "$nsA" nlx ea &&
		refused_as 'not supported' 'it carries neither' "$nsA" nlx lo &&
		rdma link del nla
}

refused() {
	add_link "$nsA" nla ea || return
	! ip netns exec "$nsB" rdma link add nla type hroce netdev eb || { echo "same name twice"; return 1; }
	! ip netns exec "$nsA" rdma link add nlx type hroce netdev ea || { echo "same netdev twice"; return 1; }
	! ip netns exec "$nsA" rdma link add nlx type hroce netdev nonesuch || { echo "no netdev"; return 1; }
	! ip netns exec "$nsA" rdma link add '' type hroce netdev ea || { echo "empty name"; return 1; }
	! rdma link add nlx type hroce netdev ea || { echo "netdev of another namespace"; return 1; }
	! rdma link del nonesuch || { echo "unknown link deleted"; return 1; }
	[ "$(links_shown)" = 1 ] && rdma link del nla
}

fresh() {
	cleanup
	two_ends
}

# usage: has LINK VALUE: of a switch
has() { [ "$(cat "/sys/kernel/debug/hroce/$1/sack")" = "$2" ]; }

# The switches of a link follow its name, and another link with the old name has its own.
renamed() {
	fresh && knob nla sack N && rdma dev set nla name nlx && links+=(nlx) && has nlx N &&
		[ ! -e /sys/kernel/debug/hroce/nla ] || { ls /sys/kernel/debug/hroce; return 1; }
	rdma dev set nlb name nla && has nla Y && rdma link del nla && add_link "$nsB" nla eb && has nla Y &&
		knob nla sack N && knob nlx sack Y && has nla N && has nlx Y || { ls /sys/kernel/debug/hroce; return 1; }
	rdma link del nlx && [ ! -e /sys/kernel/debug/hroce/nlx ]
}

# Traffic must end with an error, soon; the peer's link stays and works.
must_fail() {
	[[ $traffic_status = [25] ]]
}

# usage: link_again LINK: nla or nlb can be made anew on its device, and works
works() { traffic -n 30; }

delete_link_under_traffic() {
	local side ns

	for side in nla nlb; do
		fresh || return
		under_traffic rdma link del $side && must_fail || return
		gone $side || { echo "$side is still there"; return 1; }
		[ $side = nla ] && ns=$nsA || ns=$nsB
		add_link "$ns" $side "e${side#nl}" && works || return
	done
}

# What waits for a completion gets one, also if it connects while the link is being removed from many queue pairs.
connected_while_deleted() {
	local pid

	fresh || return
	HROCE_DEV=nla timeout -s KILL 120 "$build/vt_again" 3000 >"/tmp/again-$id" &
	pid=$!
	wait_for 60 grep -q ready "/tmp/again-$id" && rdma link del nla || return
	wait "$pid" || { cat "/tmp/again-$id"; return 1; }
	cat "/tmp/again-$id"
}

delete_netdev_under_traffic() {
	fresh || return
	under_traffic ip -n "$nsA" link del ea && must_fail || return
	wait_for 10 gone nla && wait_for 10 gone nlb
}

delete_namespace_under_traffic() {
	fresh || return
	under_traffic ip netns del "$nsB" && must_fail || return
	wait_for 15 gone nlb && wait_for 15 gone nla
}

move_netdev_under_traffic() {
	fresh || return
	under_traffic ip -n "$nsA" link set ea netns "$nsB"
	[[ $traffic_status = [025] ]] || return
	wait_for 10 gone nla || rdma link del nla
	rdma link del nlb
}

# What the host has joined in the new namespace stays joined, however late the queue pairs leave their groups.
move_netdev_with_groups() {
	local pid

	fresh || return
	HROCE_DEV=nla timeout -s KILL 120 "$build/vt_member" 224.0.0.1 3000 >"/tmp/member-$id" &
	pid=$!
	wait_for 60 grep -q ready "/tmp/member-$id" && ip -n "$nsA" link set ea netns "$nsB" up &&
		wait_for 30 gone nla || return
	kill $pid
	wait $pid
	ip -n "$nsB" maddress show dev ea
	ip -n "$nsB" maddress show dev ea | grep -q 'link *01:00:5e:00:00:01'
}

# A slow machine takes seconds for it: retries last for 17 s.
carrier_lost_and_back() {
	fresh || return
	flap() {
		ip -n "$nsA" link set ea down && wait_for 5 down && ip -n "$nsA" link set ea up && wait_for 5 up
	}
	vt_options="-e 19" under_traffic flap && [ "$traffic_status" = 0 ] && works
}

flapping() {
	fresh || return
	flap_often() {
		local i

		for i in 1 2 3 4 5 6 7 8; do
			ip -n "$nsB" link set eb down && ip -n "$nsB" link set eb up || return
		done
	}
	vt_options="-e 17" under_traffic flap_often && [ "$traffic_status" = 0 ] && works
}

# usage: told_of EVENT TIMES
told_of() { [ "$(grep -c "IBV_EVENT_PORT_$1 " "/tmp/events-$id")" = "$2" ]; }

# Newer kernels know of the state of ports, too: each change is told once, and nothing else is.
port_events() {
	local i pid status=0

	fresh || return
	stdbuf -oL ibv_asyncwatch -d nla >"/tmp/events-$id" &
	pid=$!
	wait_for 10 grep -q 'async event' "/tmp/events-$id" && ip -n "$nsA" link set ea alias other || status=1
	for i in 1 2 3; do
		ip -n "$nsA" link set ea down && wait_for 10 told_of ERR $i &&
			ip -n "$nsA" link set ea up && wait_for 10 told_of ACTIVE $i || status=1
	done
	kill $pid
	wait $pid
	cat "/tmp/events-$id"
	[ $status = 0 ] && told_of ERR 3 && told_of ACTIVE 3
}

# IPv6 addresses go when the device goes down, and with them the GIDs in use: an error, or going on, but no hang.
addresses_removed_under_traffic() {
	fresh || return
	under_traffic ip -n "$nsA" address flush dev ea scope global
	[[ $traffic_status = [02] ]] || return
	address "$nsA" ea 1 && works && HROCE_FAMILY=6 works
}

address_changes() {
	local i

	fresh || return
	for i in 11 12 13; do
		ip -n "$nsA" address add 10.90.0.$i/24 dev ea && wait_for 5 grep -qi "$(printf 'ffff:0a5a:00%02x' $i)" \
			<(cat /sys/class/infiniband/nla/ports/1/gids/*) || return
	done
	ip -n "$nsA" address del 10.90.0.1/24 dev ea && ip -n "$nsA" address add 10.90.0.9/24 dev ea && works
}

mac_changes_under_traffic() {
	fresh || return
	vt_options="-e 15" under_traffic ip -n "$nsB" link set eb address 02:00:00:00:77:01
	[[ $traffic_status = [02] ]] && works
}

killed_processes() {
	local i pids

	fresh || return
	for i in 1 2 3 4 5; do
		traffic -T 30 >/dev/null 2>&1 &
		pids[i]=$!
	done
	wait_for 20 grows nla tx_packets 0 2000 || return
	kill -9 $(pgrep -f "$build/vt_traffic") 2>/dev/null
	wait "${pids[@]}" 2>/dev/null
	wait_for 20 nothing_left && works
}

nothing_left() {
	local dev

	for dev in nla nlb; do
		[[ $(rdma resource show $dev) =~ qp\ [01]\ .*cm_id\ 0\ mr\ 0\ ctx\ 0\ srq\ 0 ]] || return
	done
}

# An open device holds the module; unloading is refused, or takes the devices away, and never hangs.
unload_under_traffic() {
	fresh || return
	try_unload() { timeout 20 rmmod hroce || [ $? != 124 ]; }
	under_traffic try_unload || return
	[[ $traffic_status = [025] ]] || return
	wait_for 20 unloaded && modprobe hroce
}

unloaded() { [ ! -d /sys/module/hroce ] || rmmod hroce; }

unload_takes_links() {
	fresh || return
	unloaded && gone nla && gone nlb && modprobe hroce && [ "$(links_shown)" = 0 ]
}

# Frames that a qdisc holds keep the module; the log says so, and what helps.
unload_waits_for_frames() {
	local pid status=0

	fresh && knob nla elide_icrc N || return
	tc -n "$nsA" qdisc add dev ea root tbf rate 64bit burst 10kb limit 10mb || return 4
	traffic -t ud -n 20 >/dev/null 2>&1 &
	pid=$!
	wait_for 20 tc_holds_frames || return
	# shellcheck disable=SC2046
	kill -9 $(pgrep -f "$build/vt_traffic") 2>/dev/null
	wait "$pid"
	wait_for 20 nothing_left && rdma link del nla && rdma link del nlb && mark_log held || return
	rmmod hroce &
	pid=$!
	wait_for 30 says_what_holds_frames || status=1
	tc -n "$nsA" qdisc del dev ea root
	wait "$pid" && modprobe hroce && return "$status"
}

tc_holds_frames() { tc -n "$nsA" -s qdisc show dev ea | grep -q 'backlog [1-9]'; }
says_what_holds_frames() { log_since held | grep -q 'unloading waits for frames'; }

load_and_unload() {
	local i

	for i in $(seq 8); do
		modprobe hroce && unloaded || return
	done
	modprobe hroce
}

moves_to_and_fro() {
	local i

	for i in $(seq 60); do
		ip netns exec "$nsA" rdma dev set nla netns "$nsB" && ip netns exec "$nsB" rdma dev set nla netns "$nsA" || return
	done
}

# While a device moves, ib_core does not find it; its netdev has a link all the same.
taken_while_it_moves() {
	local adds=/tmp/adds-$id pid

	yes 'link add nlx type hroce netdev ea' | head -n 500 >"$adds"
	moves_to_and_fro &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		ip netns exec "$nsA" rdma --force --batch "$adds" >/dev/null 2>&1
		! ip netns exec "$nsA" rdma link show nlx/1 2>/dev/null || { echo "a second link"; return 1; }
	done
	rm "$adds"
	wait $pid
}

# RDMA namespaces in exclusive mode: a device is seen only where it was moved to.
exclusive() {
	cleanup
	rdma system set netns exclusive || return 4
	new_ns "$nsA" && new_ns "$nsB" || return
	ip link add ea mtu 4200 type veth peer name eb mtu 4200 || return
	rdma link add nla type hroce netdev ea && rdma link add nlb type hroce netdev eb || return
	links+=(nla nlb)
	ip link set ea netns "$nsA" && ip link set eb netns "$nsB"
	wait_for 10 gone nla
	ip -n "$nsA" link show ea && ip -n "$nsB" link show eb || return
	address "$nsA" ea 1 && address "$nsB" eb 2 || return
	add_link "$nsA" nla ea && add_link "$nsB" nlb eb || return
	rdma dev set nla netns "$nsA" 2>/dev/null
	rdma dev set nlb netns "$nsB" 2>/dev/null
	ip netns exec "$nsA" rdma link show nla/1 && ip netns exec "$nsB" rdma link show nlb/1 || return
	! ip netns exec "$nsB" rdma link show nla/1 || { echo "seen from outside"; return 1; }
	ip netns exec "$nsB" env HROCE_DEV=nlb "$build/vt_traffic" -S 18701 -n 100 &
	ip netns exec "$nsA" env HROCE_DEV=nla "$build/vt_traffic" -C 10.90.0.2:18701 -n 100 && wait $! || return
	taken_while_it_moves || return
	ip netns exec "$nsA" rdma link del nla && ip netns exec "$nsB" rdma link del nlb
}

modprobe -a rdma_ucm ib_uverbs hroce || { tap_case lifecycle.load false; tap_done; exit 1; }
two_ends 4200 bare || { tap_case lifecycle.topology false; tap_done; exit 1; }
tap_case lifecycle.add_and_delete add_and_delete
tap_case lifecycle.added_by_many added_by_many
tap_case lifecycle.mtu_changes_while_added mtu_changes_while_added
tap_case lifecycle.refused refused
tap_case lifecycle.refused_with_reason refused_with_reason
tap_case lifecycle.renamed renamed
tap_case lifecycle.delete_link_under_traffic delete_link_under_traffic
tap_case lifecycle.connected_while_deleted connected_while_deleted
tap_case lifecycle.delete_netdev_under_traffic delete_netdev_under_traffic
tap_case lifecycle.delete_namespace_under_traffic delete_namespace_under_traffic
tap_case lifecycle.move_netdev_under_traffic move_netdev_under_traffic
tap_case lifecycle.move_netdev_with_groups move_netdev_with_groups
tap_case lifecycle.carrier_lost_and_back carrier_lost_and_back
tap_case lifecycle.flapping flapping
tap_case lifecycle.port_events port_events
tap_case lifecycle.addresses_removed_under_traffic addresses_removed_under_traffic
tap_case lifecycle.address_changes address_changes
tap_case lifecycle.mac_changes_under_traffic mac_changes_under_traffic
tap_case lifecycle.killed_processes killed_processes
tap_case lifecycle.unload_takes_links unload_takes_links
tap_case lifecycle.unload_under_traffic unload_under_traffic
tap_case lifecycle.unload_waits_for_frames unload_waits_for_frames
tap_case lifecycle.load_and_unload load_and_unload
tap_case lifecycle.exclusive_namespaces exclusive
tap_done
