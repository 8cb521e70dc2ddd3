# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# One link, vta, that talks to itself, and what is left on it. Source it.

# Whether all objects of programs are gone.
objects_clean() {
	local have

	have=$(rdma resource show vta)
	[[ $have =~ qp\ [01]\ .*cm_id\ 0\ mr\ 0\ ctx\ 0\ srq\ 0 ]] || { echo "$have"; return 1; }
}

one_link() {
	ip link add va mtu 4200 type veth peer name vb mtu 4200 && ip link set vb up && ip link set va up &&
		ip address add 10.88.0.1/24 dev va && ip address add fd88::1/64 dev va nodad &&
		rdma link add vta type hroce netdev va
}
