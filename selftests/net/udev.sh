#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A real systemd-udevd with the rules of the installed rdma-core and those of hroce, in a guest without links. The
# distribution's policy for names is NAME_FALLBACK; administrators set others in /etc/udev/rules.d. A link of rdma_rxe shows
# that the policy is in force; its module insists on port 4791, so it is loaded first.

cd "$(dirname "$0")/../.." || exit 1
. selftests/lib/tap.sh

naming=60-rdma-persistent-naming.rules

# From 53 on, rdma-core leaves alone all that "rdma link add" named.
theirs='^rocex'
! dpkg --compare-versions "$(dpkg-query -W -f '${Version}' rdma-core)" ge 53 || theirs='^rxe0$'

# usage: policy NAME_...: that of the administrator
policy() {
	sed "s/^\(ACTION.*\) NAME_FALLBACK\"/\1 $1\"/" "/usr/lib/udev/rules.d/$naming" >"/etc/udev/rules.d/$naming" &&
		grep -q "^ACTION.* $1\"" "/etc/udev/rules.d/$naming" && udevadm control --reload
}

names() { rdma dev | sed 's/^[0-9]*: \([^:]*\):.*/\1/'; }

# usage: added NAME NETDEV: make a link, let udev do what it does, and see whether it keeps its name
added() {
	rdma link add "$1" type hroce netdev "$2" && udevadm settle || return
	names
	names | grep -qx "$1"
}

keeps() { added "$@" && rdma link del "$1"; }

# Two netdevs with one MAC address, and rdma_rxe on one of them.
keep_by_guid() {
	policy NAME_GUID && added hroce0 eth0 && added hroce1 vlan7 && rdma link add rxe0 type rxe netdev eth0 &&
		udevadm settle || return
	names
	[ "$(names | grep -c -e '^hroce[01]$' -e "$theirs")" = 3 ]
}

# usage: has DEVICE PATTERN: in its properties
has() { udevadm info -q property "/sys/class/infiniband/$1" | grep "$2"; }

tags() {
	udevadm info -q property /sys/class/infiniband/hroce0
	has hroce0 '^ID_RDMA_ROCE=1$' && has hroce0 '^SYSTEMD_WANTS=.*rdma-load-modules@roce.service'
}

cp user/udev/*.rules /usr/lib/udev/rules.d/ || exit 1
/lib/systemd/systemd-udevd --daemon && udevadm control --ping && modprobe -a rdma_rxe hroce || exit 1
ip link add vlan7 link eth0 type vlan id 7 && ip link set vlan7 up || exit 1

tap_case udev.default_policy keeps hroce0 eth0
tap_case udev.by_guid keep_by_guid
tap_case udev.tags tags
tap_case udev.nothing_left eval '! has hroce0 LD_TRACE'
rdma link del hroce1
policy NAME_KERNEL
tap_case udev.by_kernel keeps hroce2 vlan7
tap_done
