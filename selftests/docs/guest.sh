#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run the commands of pages as their readers do: block after block, on two machines that stand for theirs.
#
#	first                             second
#	+-------------------------+       +-------------------------+
#	| eth0  192.0.2.1         |<----->| eth0  192.0.2.2         |
#	|       2001:db8::1       |       |       2001:db8::2       |
#	+-------------------------+       +-------------------------+
#
#	guest.sh PAGE...	in a guest of two, started with --no-load
#
# A page begins with hroce loaded and the link hroce0, unless its first block does that. What is not run is listed.

cd "$(dirname "$0")/../.." || exit 1
. selftests/lib/tap.sh

hosts=(none first second)
here=${hosts[NODE]}

# How many servers wait for connections, of TCP or rdma_cm.
listeners() { { ss -Hltn; rdma resource show cm_id | grep LISTEN; } | wc -l; }
more_listeners() { [ "$(listeners)" -gt "$1" ]; }
no_links() { ! rdma link show | grep -q .; }

first_block() { selftests/docs/commands "$1" | awk -F '\t' '$2 ~ /both|first|second/ { print $4; exit }' | base64 -d; }

begin_page() {
	local link

	for link in $(rdma link show | sed -n 's/^link \(.*\)\/1 .*/\1/p'); do
		rdma link del "$link"
	done
	wait_for 20 no_links || return
	first_block "$1" | grep -q 'modprobe hroce' && return
	modprobe hroce || return
	first_block "$1" | grep -q 'rdma link add hroce0' || rdma link add hroce0 type hroce netdev eth0
}

# usage: run_block HOW TEXT
run_block() {
	local before

	case $1 in
	run) timeout -k 5 60 bash -ec "$2" </dev/null ;;
	serves)
		before=$(listeners)
		timeout -k 5 60 bash -ec "$2" >/tmp/served 2>&1 </dev/null &
		echo $! >/tmp/server
		wait_for 20 more_listeners "$before" || { cat /tmp/served; return 1; }
		# Programs may have more to prepare when the first listener is there.
		sleep 3
		;;
	esac
}

# The server of the last block has ended, and well, or is ended.
end_server() {
	local pid

	[ -e /tmp/server ] || return 0
	pid=$(cat /tmp/server)
	rm /tmp/server
	wait_for 5 eval "! kill -0 $pid" || kill "$pid"
} >/dev/null 2>&1

page() {
	local name where how text number=0

	tap_case "commands.$(basename "$1").begins" begin_page "$1"
	vm-barrier "$(basename "$1")"
	while IFS=$'\t' read -r name where how text; do
		number=$((number + 1))
		case $where in
		none)
			[ "$NODE" != 1 ] || echo "# $name: $how"
			continue
			;;
		host | systemd) continue ;;
		esac
		if [ "$where" = both ] || [ "$where" = "$here" ]; then
			tap_case "commands.$name.$number" run_block "$how" "$(base64 -d <<<"$text" | sed 's/ADDRESS-OF-THE-FIRST/192.0.2.1/')"
		fi
		vm-barrier "$name.$number"
		[ "$how" = serves ] || end_server
	done < <(selftests/docs/commands "$1")
}

# Names, addresses and the program of the pages.
printf '#!/bin/sh\nexec %s collectives\n' "${FOREIGN_BUILD:-$PWD/build/selftests-foreign}/mpi" >program
chmod +x program
ln -sf "$PWD/user/tool/hroce" /usr/local/bin/hroce
ip address flush dev eth0 scope global
ip address add "192.0.2.$NODE/24" dev eth0
ip address add "2001:db8::$NODE/64" dev eth0 nodad
printf '%s\n' '192.0.2.1 first' '192.0.2.2 second' >>/etc/hosts
mountpoint -q /sys/fs/cgroup || mount -t cgroup2 cgroup2 /sys/fs/cgroup
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
modprobe -a rdma_ucm ib_uverbs
for it; do
	page "$it"
done
tap_done
