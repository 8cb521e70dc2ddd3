#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A link over real hardware, against a second node:
#
#	hw.sh IFACE PEER
#
# IFACE is a port of the card, with a link of hroce on it; PEER the IPv4 address of the other node, where a link of hroce
# is on the netdev with that address, in either mode. Variables: REMOTE, how to give a command line to a shell there
# (default ssh root@PEER); COUNT, how many messages each program sends (default its own); DRY_RUN=1 shows the commands and
# runs none.

. "$(dirname "$0")/../lib/tap.sh"

[ $# = 2 ] || { echo "usage: hw.sh IFACE PEER" >&2; exit 2; }
iface=$1
peer=$2
read -ra remote <<<"${REMOTE:-ssh root@$peer}"
port=18515
count=${COUNT:+-n $COUNT}

# usage: there COMMAND-LINE
there() { "${remote[@]}" "$1"; }

# usage: link_on IFACE: the link of hroce there; runs on either node
link_on() {
	local it

	for it in /sys/class/infiniband/*/offload; do
		it=${it%/offload}
		rdma link show "${it##*/}/1" | grep -q " netdev $1 " && echo "${it##*/}" && return
	done
	return 1
}

# usage: gid_of LINK ADDRESS: index of its RoCEv2 GID; runs on either node
gid_of() { ibv_devinfo -v -d "$1" | sed -n "s/.*GID\[ *\([0-9]*\)\]:[[:space:]]*::ffff:${2//./\\.}.*/\1/p" | head -n 1; }

find_links() {
	here_dev=$(link_on "$iface") || { echo "# no link of hroce on $iface"; return 1; }
	address=$(ip -o -4 route get "$peer" | sed 's/.* src \([0-9.]*\).*/\1/')
	here_gid=$(gid_of "$here_dev" "$address")
	there_dev=$(there "$(declare -f link_on); link_on \$(ip -o -4 address show to $peer | awk '{ print \$2 }')")
	there_gid=$(there "$(declare -f gid_of); gid_of $there_dev $peer")
	echo "# $here_dev, gid $here_gid, $address; $there_dev, gid $there_gid, $peer"
	[ -n "$here_gid" ] && [ -n "$there_gid" ]
}

mode_is_hardware() { grep . "$offload"/* && grep -q hardware "$offload/mode"; }

# The log says by which command the card lets go of port 4791.
software_refused() {
	local mark="hroce selftest $$"

	echo "$mark" >/dev/kmsg
	! echo software >"$offload/policy" && dmesg | sed "1,/$mark/d" | grep "takes UDP port 4791: "
}

# usage: program NAME GID-OPTION OPTION...: there it serves, here it asks
program() {
	local server="$1 -d $there_dev $2 $there_gid -p $port $count ${*:3}" pid status=0
	local client="$1 -d $here_dev $2 $here_gid -p $port $count ${*:3} $peer"

	[ -z "${DRY_RUN:-}" ] || { printf '%s\n' "there: $server" "here:  $client"; return; }
	there "timeout 60 $server" &
	pid=$!
	wait_for 20 there "ss -ltn | grep -q :$port" || status=1
	# shellcheck disable=SC2086
	timeout 60 $client || status=1
	[ $status = 0 ] || kill $pid
	wait $pid && [ $status = 0 ]
}

# usage: programs FUNCTION...: FUNCTION is called with each case
programs() {
	local kind

	for kind in rc uc ud; do
		"$@" "hw.${kind}_pingpong" program "ibv_${kind}_pingpong" -g
	done
	"$@" hw.ib_write_bw program ib_write_bw -x -F -s 65536
	"$@" hw.ib_read_bw program ib_read_bw -x -F -s 65536
	"$@" hw.ib_send_lat program ib_send_lat -x -F
	"$@" hw.ib_write_lat program ib_write_lat -x -F
}

show() { shift; "$@"; }

if [ -n "${DRY_RUN:-}" ]; then
	here_dev=LINK-ON-$iface here_gid=GID there_dev=LINK-OF-$peer there_gid=GID
	echo "here:  grep . /sys/class/infiniband/$here_dev/offload/*"
	echo "here:  echo software >/sys/class/infiniband/$here_dev/offload/policy    # to be refused"
	programs show
	exit
fi
find_links || { tap_not_ok hw.links; tap_done; exit 1; }
offload=/sys/class/infiniband/$here_dev/offload
tap_case hw.mode_is_hardware mode_is_hardware
tap_case hw.software_refused software_refused
programs tap_case
tap_done
