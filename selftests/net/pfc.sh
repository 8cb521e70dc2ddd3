#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Pause frames of a netdev with priority-based flow control, in the counters of the links on it. The netdev is a test
# module; how many frames it counts is set by parameters.

. "$(dirname "$0")/lib.sh"

params=/sys/module/hroce_pfc/parameters

# usage: counts LINK NAME VALUE
counts() { [ "$(counter "$1" "$2")" = "$3" ] || { counter "$1" "$2"; return 1; }; }

# usage: count RCVD SENT: of priorities 0 to 7, separated by commas
count() { echo "$1" >$params/rcvd && echo "$2" >$params/sent; }

netdev() {
	insmod "$(dirname "${VM_KO:?}")/selftests/pfc/hroce_pfc.ko" && ip link add pfc0 type hroce_pfc && ip link set pfc0 up &&
		ip address add 10.93.0.1/24 dev pfc0 && rdma link add nlp type hroce netdev pfc0
}

shown() {
	count 0,0,0,7,0,0,0,1 5,0,0,2,0,0,0,0 && counts nlp rx_prio3_pause 7 && counts nlp rx_prio7_pause 1 &&
		counts nlp rx_prio0_pause 0 && counts nlp tx_prio0_pause 5 && counts nlp tx_prio3_pause 2 &&
		rdma -j statistic show link nlp/1 | grep -q '"rnr_rcvd":0' &&
		count 0,0,0,8,0,0,0,1 5,0,0,2,0,0,0,0 && sleep 0.1 && counts nlp rx_prio3_pause 8
}

# A VLAN has no counts of its own, and neither has a bond: those of its members are added.
below() {
	count 0,0,0,10 0,0,4 && ip link add link pfc0 name pfc0.5 type vlan id 5 && ip link set pfc0.5 up &&
		rdma link add nlv type hroce netdev pfc0.5 && counts nlv rx_prio3_pause 10 && counts nlv tx_prio2_pause 4 &&
		rdma link delete nlv && ip link delete pfc0.5
}
members() {
	count 0,0,0,10 0,0,4 && ip link add bondp type bond mode active-backup && ip link add pfc1 type hroce_pfc &&
		ip link add pfc2 type hroce_pfc && ip link set pfc1 master bondp && ip link set pfc2 master bondp &&
		ip link set bondp up && rdma link add nlb type hroce netdev bondp && counts nlb rx_prio3_pause 20 &&
		counts nlb tx_prio2_pause 8 && ip link set pfc2 nomaster && sleep 0.1 && counts nlb rx_prio3_pause 10 &&
		rdma link delete nlb && ip link delete bondp
}

# Queue pairs have no priority in hardware that counts for them alone.
not_of_queue_pairs() {
	rdma statistic qp set link nlp/1 auto type on && ! rdma statistic qp show link nlp/1 | grep -q _pause &&
		rdma statistic qp set link nlp/1 auto off
}

without() {
	ip link add vp0 type veth peer name vp1 && ip link set vp0 up && rdma link add nln type hroce netdev vp0 &&
		[ -e /sys/class/infiniband/nln/ports/1/hw_counters/rnr_sent ] &&
		! [ -e /sys/class/infiniband/nln/ports/1/hw_counters/rx_prio3_pause ] && rdma link delete nln &&
		ip link delete vp0
}

# The netdev goes while somebody reads.
removed() {
	local reader

	while :; do cat /sys/class/infiniband/nlp/ports/1/hw_counters/rx_prio3_pause; done >/dev/null 2>&1 &
	reader=$!
	sleep 0.5
	ip link delete pfc0 && wait_for 20 gone nlp
	local status=$?
	kill $reader
	return $status
}
gone() { ! [ -e "/sys/class/infiniband/$1" ]; }

tap_case netdev netdev
tap_case pause_frames_shown shown
tap_case vlan_has_those_below below
tap_case bond_has_those_of_members members
tap_case not_of_queue_pairs not_of_queue_pairs
tap_case none_without_pfc without
tap_case netdev_goes_while_read removed
tap_case module_can_be_removed rmmod hroce_pfc
tap_done
