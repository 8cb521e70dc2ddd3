#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Links in containers, as Documentation/containers.rst says. A container is what a runtime makes: a process with namespaces
# of its own, and a netdev that is put there.
#
#	containers on host A                             host B
#	c1: eth0, link l1 --+
#	                    +-- macvlan, ipvlan or bridge -- up0 <-- veth --> far, link lf
#	c2: eth0, link l2 --+
#
# Must run in a guest without links of its own (run --no-load): RDMA devices are made exclusive to namespaces at first, which
# the kernel refuses as long as a TCP socket of an earlier namespace waits for its peer.

. "$(dirname "$0")/lib.sh"

declare -A pid_of within

# usage: container NAME [user]: with "user" it has a user namespace, too, whose root is user 100000 of the host
container() {
	local name=$1 outer as=() more=(--mount-proc)

	within[$name]="-n -m -p"
	if [ "${2:-}" = user ]; then
		as=(setpriv --reuid 100000 --regid 100000 --clear-groups)
		more=(--user --map-root-user)
		within[$name]+=" -U"
	fi
	rm -f "/tmp/up.$name"
	"${as[@]}" unshare "${more[@]}" --net --pid --mount --fork --kill-child \
		sh -c "mount -t sysfs sysfs /sys && ip link set lo up && : >/tmp/up.$name && exec sleep 1000" </dev/null >/dev/null 2>&1 &
	outer=$!
	disown
	wait_for 10 test -e "/tmp/up.$name" || return
	pid_of[$name]=$(pgrep -P $outer)
}

# usage: net CONTAINER COMMAND...: the host's root, in the network namespace of the container
net() { nsenter -t "${pid_of[$1]}" -n -- "${@:2}"; }

# usage: inside CONTAINER COMMAND...: root of the container
inside() {
	# shellcheck disable=SC2086 # options
	nsenter -t "${pid_of[$1]}" ${within[$1]} -- "${@:2}"
}

# usage: user_inside CONTAINER COMMAND...: a user of the container without any capability; memory_kb may be locked
user_inside() {
	inside "$1" prlimit --memlock=$((${memory_kb:-65536} * 1024)) setpriv --reuid 1000 --regid 1000 --clear-groups \
		--bounding-set=-all --inh-caps=-all --no-new-privs "${@:2}"
}

end_containers() {
	local name

	for name in "${!pid_of[@]}"; do
		kill -9 "${pid_of[$name]}" 2>/dev/null
	done
	pid_of=()
}

# Each case is a process of its own, and takes away what it has made.
fresh() {
	trap 'end_containers; cleanup' EXIT
	end_containers
	cleanup
	wait_for 20 no_links
}

# usage: hosts: A with up0 and B with far and the link lf, 10.90.0.9
hosts() {
	fresh || return
	new_ns "$nsA" && new_ns "$nsB" || return
	ip link add up0 netns "$nsA" mtu 4200 type veth peer name far netns "$nsB" mtu 4200 &&
		ip -n "$nsA" link set up0 up && address "$nsB" far 9 && add_link "$nsB" lf far
}

no_links() { ! rdma link show | grep -q .; }
gone() { ! rdma link show | grep -q "^link $1/"; }

# usage: plug KIND CONTAINER: its eth0
plug() {
	local kind=$1 pid=${pid_of[$2]}

	case $kind in
	macvlan) ip -n "$nsA" link add "t$2" link up0 mtu 4200 type macvlan mode bridge ;;
	ipvlan_*) ip -n "$nsA" link add "t$2" link up0 mtu 4200 type ipvlan mode "${kind#ipvlan_}" ;;
	bridge)
		ip -n "$nsA" link show br0 >/dev/null 2>&1 || {
			ip -n "$nsA" link add br0 mtu 4200 type bridge && ip -n "$nsA" link set br0 up &&
				ip -n "$nsA" link set up0 master br0 || return
		}
		ip -n "$nsA" link add "t$2" mtu 4200 type veth peer name "p$2" mtu 4200 &&
			ip -n "$nsA" link set "p$2" master br0 up
		;;
	esac && ip -n "$nsA" link set "t$2" netns "$pid" name eth0
}

# usage: addresses CONTAINER NUMBER RUN: by the host ("net") or by itself ("inside")
addresses() {
	"$3" "$1" ip link set eth0 up && "$3" "$1" ip address add "10.90.0.$2/24" dev eth0 &&
		"$3" "$1" ip address add "fd90::$2/64" dev eth0 nodad
}

# usage: link CONTAINER LINK: the host makes it
link() { net "$1" rdma link add "$2" type hroce netdev eth0; }

# usage: furnish KIND CONTAINER NUMBER LINK
furnish() { plug "$1" "$2" && addresses "$2" "$3" net && link "$2" "$4"; }

remote() { ip netns exec "$nsB" "$@"; }

# usage: answers CONTAINER ADDRESS...
answers() {
	local name=$1 address

	shift
	for address; do
		wait_for 10 net "$name" ping -c 1 -W 1 "$address" || return
	done
}

# usage: talk SERVER LINK -- CLIENT LINK -- ADDRESS [OPTION...]
# Verified traffic between two programs, each run by a command.
port=18800
talk() {
	local server=() client=() pid status=0

	while [ "$1" != -- ]; do server+=("$1"); shift; done
	shift
	while [ "$1" != -- ]; do client+=("$1"); shift; done
	shift
	port=$((port + 1))
	"${server[@]:0:${#server[@]}-1}" env "HROCE_DEV=${server[-1]}" timeout -s KILL 60 "$build/vt_traffic" -S $port "${@:2}" &
	pid=$!
	"${client[@]:0:${#client[@]}-1}" env "HROCE_DEV=${client[-1]}" timeout -s KILL 60 "$build/vt_traffic" -C "$1:$port" "${@:2}" ||
		status=$?
	wait $pid || status=$?
	return $status
}

# usage: two_containers KIND [user]
two_containers() {
	hosts && container c1 ${2:-} && container c2 ${2:-} && furnish "$1" c1 1 l1 && furnish "$1" c2 2 l2 || return
}

# Unprivileged users in two containers talk with another host and with each other.
reach() {
	two_containers "$1" && answers c1 10.90.0.9 fd90::9 10.90.0.2 fd90::2 || return
	talk remote lf -- user_inside c1 l1 -- 10.90.0.9 -n 100 && talk user_inside c2 l2 -- remote lf -- 10.90.0.2 -n 100 &&
		talk user_inside c2 l2 -- user_inside c1 l1 -- 10.90.0.2 -n 100 &&
		HROCE_FAMILY=6 talk user_inside c2 l2 -- user_inside c1 l1 -- 10.90.0.2 -n 50
}

# In mode l3 ipvlan answers no ARP: the other host has a route.
reach_routed() {
	two_containers "$1" || return
	ip -n "$nsA" address add 10.91.0.8/24 dev up0 && ip -n "$nsB" address add 10.91.0.9/24 dev far &&
		remote ip route add 10.90.0.1/32 via 10.91.0.8 && net c1 ip route replace default dev eth0 && answers c1 10.90.0.2 10.90.0.9 || return
	talk user_inside c2 l2 -- user_inside c1 l1 -- 10.90.0.2 -n 100 &&
		talk remote lf -- user_inside c1 l1 -- 10.90.0.9 -n 100
}

# usage: guid LINK
guid() { cat "/sys/class/infiniband/$1/node_guid"; }

# Two ipvlans with the MAC of their parent, and with the same index. A peer takes the second connection of equal GUIDs
# and queue pair numbers for a stale one.
guids_of_ipvlan() {
	local n

	hosts && container c1 && container c2 && add_link "$nsA" la up0 || return
	for n in 1 2; do
		ip -n "$nsA" link add "tc$n" index 777 link up0 mtu 4200 type ipvlan mode l2 &&
			ip -n "$nsA" link set "tc$n" netns "${pid_of[c$n]}" name eth0 && addresses "c$n" "$n" net &&
			[[ $(net "c$n" ip -o link show eth0) == 777:* ]] && link "c$n" "l$n" || return
	done
	echo "$(guid la) $(guid l1) $(guid l2)"
	[ "$(guid l1)" != "$(guid l2)" ] && [ "$(guid la)" != "$(guid l1)" ] && [ "$(guid la)" != "$(guid l2)" ]
}

# usage: gid LINK INDEX
gid() { cat "/sys/class/infiniband/$1/ports/1/gids/$2"; }

# usage: gids_are LINK PATTERN...: those at index 0, 1 ...
gids_are() {
	local link=$1 index=0 pattern

	shift
	for pattern; do
		# shellcheck disable=SC2053 # a pattern
		[[ $(gid "$link" $index) == $pattern ]] || { echo "$link has $(gid "$link" $index) at $index, not $pattern"; return 1; }
		index=$((index + 1))
	done
}

local_gid='fe80:0000:0000:0000:*'
ipv4_gid='0000:0000:0000:0000:0000:ffff:0a5a:0001'
ipv6_gid='fd90:*:0001'

gid_index() {
	hosts && container c1 || return
	# The link is made when the addresses are there,
	furnish macvlan c1 1 l1 && wait_for 5 gids_are l1 "$local_gid" $ipv4_gid "$ipv6_gid" || return
	# or before, and IPv4 comes first.
	rdma link del l1 && net c1 ip address flush dev eth0 && link c1 l1 && addresses c1 1 net &&
		wait_for 5 gids_are l1 "$local_gid" $ipv4_gid "$ipv6_gid" || return
	# An index does not change as long as the address stays.
	net c1 ip address add 10.90.0.77/24 dev eth0 && net c1 ip address del fd90::1/64 dev eth0 &&
		wait_for 5 gids_are l1 "$local_gid" $ipv4_gid
}

# usage: packets: what the container's own user reads, by netlink
packets() { user_inside c1 rdma statistic show link l1/1 | grep -o ' tx_packets [0-9]*'; }

counters() {
	local before

	two_containers macvlan && answers c1 10.90.0.2 && before=$(packets) && echo "$before" &&
		talk user_inside c2 l2 -- user_inside c1 l1 -- 10.90.0.2 -n 50 || return
	[ "$(packets)" != "$before" ] && [ "$(packets)" = " tx_packets $(counter l1 tx_packets)" ] || return
	# Where all containers see all devices, only the host has these files.
	! inside c1 test -e /sys/class/infiniband/l1/ports/1/hw_counters
}

# No tool that looks for PCI devices finds a link.
no_pci_device() {
	two_containers macvlan && [[ $(readlink -f /sys/class/infiniband/l1) == /sys/devices/virtual/infiniband/l1 ]] &&
		[ ! -e /sys/class/infiniband/l1/device ] && ! compgen -G '/sys/bus/pci/devices/*/infiniband/l1'
}

# usage: not_permitted COMMAND...: EPERM
not_permitted() {
	local said

	! said=$("$@" 2>&1) || { echo "permitted: $*"; return 1; }
	[[ $said == *"Operation not permitted"* ]] || { echo "$*: $said"; return 1; }
}

# CAP_NET_ADMIN in a user namespace: no link is made, renamed or removed, but addresses are, and with them GIDs.
user_namespace() {
	hosts && container c1 user && container c2 user && plug macvlan c1 && furnish macvlan c2 2 l2 || return
	not_permitted inside c1 rdma link add l1 type hroce netdev eth0 && link c1 l1 && addresses c1 1 inside &&
		wait_for 5 gids_are l1 "$local_gid" $ipv4_gid "$ipv6_gid" || return
	not_permitted inside c1 rdma link del l1 && not_permitted inside c1 rdma dev set l1 name lx &&
		not_permitted inside c1 rdma system set netns exclusive &&
		not_permitted inside c1 rdma statistic qp set link l1/1 auto type on || return
	! inside c1 sh -c 'echo software >/sys/class/infiniband/l1/offload/policy' || { echo "policy written"; return 1; }
	! inside c1 sh -c 'echo 1 0x8001 >/sys/class/infiniband/l1/set_pkey' || { echo "P_Key written"; return 1; }
	answers c1 10.90.0.9 10.90.0.2 && talk remote lf -- inside c1 l1 -- 10.90.0.9 -n 100 &&
		talk inside c2 l2 -- inside c1 l1 -- 10.90.0.2 -n 100
}

# usage: pinned CONTAINER RUN: a ping-pong that registers 8 MB
pinned() { "$2" "$1" ibv_rc_pingpong -d "${used:-l1}" -g 1 -s 8000000 -n 2 "${@:3}"; }
listens() { net c1 ss -ltn | grep -q :18515; }
pingpong_with_itself() {
	local pid

	pinned c1 "$1" &
	pid=$!
	wait_for 10 listens || { wait $pid; return 1; }
	pinned c1 "$1" 127.0.0.1 && wait $pid
}

# What may be pinned is bounded by RLIMIT_MEMLOCK, for the root of a user namespace as well.
memlock() {
	root_inside() { inside "$1" prlimit --memlock=$((memory_kb * 1024)) "${@:2}"; }
	hosts && container c1 && furnish macvlan c1 1 l1 || return
	memory_kb=65536 pingpong_with_itself user_inside || return
	! memory_kb=4096 pinned c1 user_inside || { echo "more than may be pinned"; return 1; }
	memory_kb=4096 pingpong_with_itself root_inside || return
	hosts && container c1 user && furnish macvlan c1 1 l1 || return
	! memory_kb=4096 pinned c1 root_inside || { echo "more than may be pinned, by root"; return 1; }
	memory_kb=65536 pingpong_with_itself root_inside
}

# CAP_NET_ADMIN without a user namespace, as an init container of Kubernetes has it, is that of the host.
init_container() {
	hosts && container c1 && plug macvlan c1 && addresses c1 1 net || return
	admin() { inside c1 setpriv --bounding-set=-all,+net_admin --inh-caps=-all "$@"; }
	not_permitted inside c1 setpriv --bounding-set=-all --inh-caps=-all rdma link add l1 type hroce netdev eth0 &&
		admin rdma link add l1 type hroce netdev eth0 && answers c1 10.90.0.9 &&
		talk remote lf -- user_inside c1 l1 -- 10.90.0.9 -n 100 || return
	admin sh -c 'echo 1 0x8001 >/sys/class/infiniband/l1/set_pkey' && admin rdma link del l1 &&
		wait_for 5 gone l1 || return
	# It sees the links of others, and may remove them.
	admin rdma link del lf && wait_for 5 gone lf
}

# usage: node_of LINK: the name of its device node
node_of() { grep -lx "$1" /sys/class/infiniband_verbs/*/ibdev | cut -d/ -f5; }


# usage: in_group COMMAND...
in_group() { sh -c "echo \$\$ >$group/cgroup.procs && exec \"\$@\"" sh "$@"; }

# One device of two is granted. Its numbers are those of libibverbs' node: 231, 192 and the number in its name.
device_cgroup() {
	local own

	two_containers macvlan && answers c1 10.90.0.9 && mkdir -p /tmp/devices && mount -t cgroup -o devices devices /tmp/devices &&
		group=/tmp/devices/c1 && mkdir $group || return
	own=$(node_of l1) && own=231:$((192 + ${own#uverbs})) || return
	[ "$(cat "/sys/class/infiniband_verbs/$(node_of l1)/dev")" = "$own" ] || { echo "l1 is not $own"; return 1; }
	echo a >"$group/devices.deny" && echo "c 1:* rw" >"$group/devices.allow" && echo "c $own rw" >"$group/devices.allow" || return
	talk remote lf -- in_group nsenter -t "${pid_of[c1]}" -n -m -p setpriv --reuid 1000 --clear-groups --bounding-set=-all l1 -- 10.90.0.9 -n 50 || return
	in_group ibv_devinfo -d l1 && ! in_group ibv_devinfo -d l2 || { echo "l2 was opened"; return 1; }
	ibv_devinfo -d l2
}

# A node that is there before its link is left alone, and leads to it.
node_made_before() {
	local node=/dev/infiniband/uverbs1

	hosts && container c1 && mknod -m 666 $node c 231 193 && furnish macvlan c1 1 l1 || return
	[ "$(node_of l1)" = uverbs1 ] && user_inside c1 ibv_devinfo -d l1 && rdma link del l1 && wait_for 5 gone l1 || return
	[ -c $node ] && rm $node
}

# So many objects, and no more, on this device.
rdma_cgroup() {
	hosts && container c1 && furnish macvlan c1 1 l1 || return
	mkdir -p /tmp/cgroup2 && { mountpoint -q /tmp/cgroup2 || mount -t cgroup2 cgroup2 /tmp/cgroup2; } &&
		echo +rdma >/tmp/cgroup2/cgroup.subtree_control && group=/tmp/cgroup2/c1 && mkdir $group || return
	echo "l1 hca_handle=1" >"$group/rdma.max" || return
	in_group nsenter -t "${pid_of[c1]}" -n ibv_devinfo -d l1 || return
	in_group nsenter -t "${pid_of[c1]}" -n timeout 30 ibv_rc_pingpong -d l1 -g 1 >/dev/null &
	wait_for 10 listens || return
	! in_group nsenter -t "${pid_of[c1]}" -n ibv_devinfo -d l1 || { echo "a second context"; return 1; }
	grep "l1 hca_handle=1" "$group/rdma.current" && net c1 pkill -f 'ibv_rc_pingpong -d l1'
	wait
}

idle() { [[ $(rdma resource show "$1") =~ qp\ [01]\ .*cm_id\ 0\ mr\ 0\ ctx\ 0\ srq\ 0 ]]; }

# usage: killed_under_traffic [user]
killed_under_traffic() {
	local server client before

	hosts && container c1 ${1:-} && furnish macvlan c1 1 l1 && answers c1 10.90.0.9 || return
	before=$(counter lf rx_packets)
	remote env HROCE_DEV=lf timeout -s KILL 60 "$build/vt_traffic" -S 18799 -T 40 &
	server=$!
	inside c1 env HROCE_DEV=l1 timeout -s KILL 60 "$build/vt_traffic" -C 10.90.0.9:18799 -T 40 &
	client=$!
	wait_for 20 grows lf rx_packets "$before" 500 && kill -9 "${pid_of[c1]}" || return
	wait $client && { echo "the client ended well"; return 1; }
	wait_for 20 gone l1 || return
	! ip -n "$nsA" -d link show type macvlan | grep . || { echo "the netdev is still there"; return 1; }
	wait $server
	wait_for 20 idle lf && container c1 ${1:-} && furnish macvlan c1 1 l1 && answers c1 10.90.0.9 &&
		talk remote lf -- inside c1 l1 -- 10.90.0.9 -n 50
}

# usage: opens CONTAINER NODE
opens() { user_inside "$1" sh -c ": <>/dev/infiniband/$2"; }
only() { [ "$("${@:2}")" = "$1" ] || { echo "seen, instead of $1:"; "${@:2}"; return 1; }; }
links_inside() { inside "$1" rdma link show | sed 's/^link \(.*\)\/.*/\1/'; }

# Devices that belong to one network namespace each: a container sees and opens its own alone, and has all files of it.
exclusive() {
	local own other

	fresh && wait_for 30 rdma system set netns exclusive && two_containers macvlan && answers c1 10.90.0.2 || return
	only l1 links_inside c1 && only l2 links_inside c2 && ! rdma link show | grep 'l[12]/' || return
	own=$(node_of l1) && other=$(node_of l2) && opens c1 "$own" && ! opens c1 "$other" && ! sh -c ": <>/dev/infiniband/$own" || return
	! inside c1 rdma link del l2 || { echo "the other's link removed"; return 1; }
	talk user_inside c2 l2 -- user_inside c1 l1 -- 10.90.0.2 -n 100 && talk remote lf -- user_inside c1 l1 -- 10.90.0.9 -n 100 || return
	inside c1 test -e /sys/class/infiniband/l1/ports/1/hw_counters/tx_packets || return
	kill -9 "${pid_of[c1]}" && wait_for 20 net c2 sh -c '! ls /sys/class/infiniband/l1' && ! rdma link show | grep l1/
}

# In a device of the host that is handed to a container, the container has the host's addresses.
handed_over() {
	fresh && wait_for 30 rdma system set netns exclusive && hosts && container c1 || return
	ip link add ha mtu 4200 type veth peer name hb mtu 4200 && ip link set hb netns "$nsB" && ip link set ha up &&
		ip address add 10.95.0.1/24 dev ha && address "$nsB" hb 2 95 && add_link "$nsB" lb hb &&
		rdma link add lh type hroce netdev ha || return
	ip netns attach "nm-$id" "${pid_of[c1]}" && rdma dev set lh netns "nm-$id" && ip netns del "nm-$id" || return
	only lh links_inside c1 && gone lh || return
	used=lh pingpong_with_itself user_inside || return
	# What waits is not told that the device goes away, as it was when the device left its namespace.
	net c1 env HROCE_DEV=lh "$build/odp" prefetch_refused || return
	kill -9 "${pid_of[c1]}"
	wait_for 20 rdma link show lh/1 && rdma link del lh && ip link del ha
}

# Not while there are namespaces.
shared_again() {
	fresh && container c1 || return
	! rdma system set netns shared || return
	end_containers
	wait_for 60 rdma system set netns shared
}

modprobe -a rdma_ucm ib_uverbs hroce || { tap_case containers.load false; tap_done; exit 1; }
tap_case containers.exclusive exclusive
tap_case containers.handed_over handed_over
tap_case containers.shared_again shared_again
tap_case containers.macvlan reach macvlan
tap_case containers.bridge_and_veth reach bridge
tap_case containers.ipvlan_l2 reach ipvlan_l2
tap_case containers.ipvlan_l3 reach_routed ipvlan_l3
tap_case containers.ipvlan_l3s reach_routed ipvlan_l3s
tap_case containers.guids_of_ipvlan guids_of_ipvlan
tap_case containers.gid_index gid_index
tap_case containers.counters counters
tap_case containers.no_pci_device no_pci_device
tap_case containers.user_namespace user_namespace
tap_case containers.init_container init_container
tap_case containers.memlock memlock
tap_case containers.device_cgroup device_cgroup
tap_case containers.node_made_before node_made_before
tap_case containers.rdma_cgroup rdma_cgroup
tap_case containers.killed_under_traffic killed_under_traffic
tap_case containers.killed_in_user_namespace killed_under_traffic user
tap_done
