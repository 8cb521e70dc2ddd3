#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Links that persist, in guests whose first process is systemd (run --systemd --no-load).
#
#	boot.sh configure	install units and rules, enable links, and leave /etc for the next machine
#	boot.sh rebooted	in that one: the links are there
#
# eth0 is there when systemd starts. lan0 is an end of a veth pair that networkd makes, and gives an address.

cd "$(dirname "$0")/../.." || exit 1
. selftests/lib/tap.sh

link_of() { rdma link show "$1/1" | grep " netdev $2\( \|$\)"; }
has_gid() { grep -rqx "$2" "/sys/class/infiniband/$1/ports/1/gids/"; }

# usage: up NAME NETDEV GID
up() {
	wait_for 30 link_of "$1" "$2" && wait_for 30 has_gid "$1" "$3" && return
	rdma link
	cat "/sys/class/infiniband/$1/ports/1/gids/"* | sort -u
	systemctl status --no-pager "hroce-link@$2.service"
	journalctl --no-pager -b -n 40
	return 1
}

gid_eth0=0000:0000:0000:0000:0000:ffff:0a4d:0001
gid_lan0=0000:0000:0000:0000:0000:ffff:0a4e:0001

install_files() {
	mkdir -p /etc/hroce && cp user/udev/*.rules /usr/lib/udev/rules.d/ && udevadm control --reload &&
		install -m 755 user/systemd/hroce-link /usr/libexec/ && install -m 644 user/systemd/*.service /lib/systemd/system/ &&
		install -D -m 644 user/systemd/limits.conf /etc/security/limits.d/hroce.conf && systemctl daemon-reload
}

# Each makes a link on eth0, which is taken away again.
commands() {
	local name where text number=0

	while IFS=$'\t' read -r name where _ text; do
		[ "$where" = systemd ] || continue
		echo "$name" && number=$((number + 1))
		bash -ec "$(base64 -d <<<"$text")" && up hroce0 eth0 $gid_eth0 && systemctl disable --now hroce-link@eth0.service &&
			rm /etc/hroce/eth0.conf || return
	done < <(for page in user/man/hroce.[78] Documentation/*.rst; do selftests/docs/commands "$page"; done)
	[ "$number" -gt 0 ]
}

configure() {
	mkdir -p /etc/systemd/network &&
		printf 'NAME=hroce0\nPOLICY=software\n' >/etc/hroce/eth0.conf &&
		printf '[NetDev]\nName=lan0\nKind=veth\n[Peer]\nName=lan1\n' >/etc/systemd/network/lan.netdev &&
		printf '[Match]\nName=lan0\n[Network]\nAddress=10.78.0.1/24\n' >/etc/systemd/network/lan0.network &&
		printf '[Match]\nName=lan1\n[Network]\nLinkLocalAddressing=ipv6\n' >/etc/systemd/network/lan1.network &&
		systemctl restart systemd-networkd.service && systemctl enable --now hroce-link@eth0.service hroce-link@lan0.service
}

# A link made by hand, on the other end of lan0, saved by the tool, and made anew by the unit.
saves() {
	modprobe hroce && rdma link add made0 type hroce netdev lan1 && echo software >/sys/class/infiniband/made0/offload/policy &&
		user/tool/hroce link save made0 && diff - /etc/hroce/lan1.conf <<<$'NAME=made0\nPOLICY=software' &&
		rdma link del made0 && systemctl start hroce-link@lan1.service && link_of made0 lan1
}

policy() { [ "$(cat /sys/class/infiniband/hroce0/offload/policy)" = software ]; }

# A netdev that goes and comes again.
netdev_returns() {
	up hroce_lan0 lan0 $gid_lan0 && ip link del lan0 && wait_for 10 eval '! link_of hroce_lan0 lan0' || return
	wait_for 10 eval '[ "$(systemctl is-active hroce-link@lan0.service)" = inactive ]' || return
	ip link add lan0 type veth peer name lan1 && ip link set lan1 up && up hroce_lan0 lan0 $gid_lan0
}

stops() {
	systemctl stop hroce-link@eth0.service && ! link_of hroce0 eth0 && systemctl start hroce-link@eth0.service &&
		link_of hroce0 eth0
}

on_vlan() { [ "$(cat /sys/class/infiniband/hroce7/offload/netdev)" = eth0.7 ]; }

# rdma shows the netdev below for a link on a VLAN.
vlan() {
	local unit=hroce-link@eth0.7.service

	ip link add eth0.7 link eth0 type vlan id 7 && ip link set eth0.7 up && echo NAME=hroce7 >/etc/hroce/eth0.7.conf &&
		systemctl start "$unit" && on_vlan && systemctl stop "$unit" && [ ! -e /sys/class/infiniband/hroce7 ] &&
		systemctl start "$unit" && on_vlan && systemctl restart "$unit" && on_vlan && systemctl stop "$unit" &&
		ip link del eth0.7 && rm /etc/hroce/eth0.7.conf
}

# No other unit than that of the link may have asked for it.
by_the_unit() {
	systemctl is-active hroce-link@eth0.service && systemctl is-active hroce-link@lan0.service &&
		systemctl show -p WantedBy hroce-link@eth0.service | grep sys-subsystem-net-devices-eth0.device
}

roce_modules() { wait_for 30 eval '[ "$(systemctl is-active rdma-load-modules@roce.service)" = active ]'; }

# usage: memlock OPTION...: that of a new user with such options; this service has none
memlock() { useradd "$@" "user$#" && systemd-run --quiet --wait --pipe su "user$#" -c 'ulimit -l'; }

members_lock_memory() {
	local others members

	getent group rdma || groupadd --system rdma
	others=$(memlock --no-create-home) && members=$(memlock --no-create-home -G rdma) && echo "others $others, members $members" &&
		[ "$members" = unlimited ] && [ "$others" != unlimited ]
}

case $1 in
configure)
	tap_case boot.install install_files
	tap_case boot.commands commands
	tap_case boot.configure configure
	tap_case boot.eth0 up hroce0 eth0 $gid_eth0
	tap_case boot.netdev_of_networkd up hroce_lan0 lan0 $gid_lan0
	tap_case boot.policy policy
	tap_case boot.netdev_returns netdev_returns
	tap_case boot.stops stops
	tap_case boot.vlan vlan
	tap_case boot.saves saves
	tap_case boot.roce_modules roce_modules
	tap_case boot.members_lock_memory members_lock_memory
	tar -C / -cf "$VM_OUT/root.tar" etc/hroce etc/systemd/network \
		etc/systemd/system/sys-subsystem-net-devices-{eth0,lan0,lan1}.device.wants usr/libexec/hroce-link usr/lib/systemd/system/hroce-link@.service \
		usr/lib/udev/rules.d/{59,61}-hroce.rules
	;;
rebooted)
	tap_case rebooted.eth0 up hroce0 eth0 $gid_eth0
	tap_case rebooted.netdev_of_networkd up hroce_lan0 lan0 $gid_lan0
	tap_case rebooted.policy policy
	tap_case rebooted.saved eval 'wait_for 30 link_of made0 lan1 && [ "$(cat /sys/class/infiniband/made0/offload/policy)" = software ]'
	tap_case rebooted.by_the_unit by_the_unit
	;;
esac
tap_done
