#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Addresses that two netdevs of one namespace have: in two VRFs, and link-local ones.
#
#	namespace H: nlva on va (VRF red)  <----- veth -----> namespace A: nlpa on pa
#		     nlvb on vb (VRF blue) <----- veth -----> namespace B: nlpb on pb
#
# va and vb have the same addresses and the same MAC, and so have pa and pb.

. "$(dirname "$0")/lib.sh"

nsH=neH-$id

# usage: side VRF TABLE NETDEV NAMESPACE PEER
side() {
	ip -n "$nsH" link add "$1" type vrf table "$2" && ip -n "$nsH" link set "$1" up &&
		ip link add "$3" address 02:00:00:00:00:01 netns "$nsH" mtu 4200 type veth \
			peer name "$5" address 02:00:00:00:00:02 netns "$4" mtu 4200 &&
		ip -n "$nsH" link set "$3" master "$1" && address "$nsH" "$3" 1 98 && address "$4" "$5" 2 98 &&
		add_link "$nsH" "nl$3" "$3" && add_link "$4" "nl$5" "$5"
}

# usage: settled NAMESPACE: link-local addresses answer from now on
settled() { [ -z "$(ip -n "$1" -6 address show tentative)" ]; }

topology() {
	new_ns "$nsH" && new_ns "$nsA" && new_ns "$nsB" && side red 1001 va "$nsA" pa && side blue 1002 vb "$nsB" pb &&
		reaches "$nsA" 10.98.0.1 fd98::1 && reaches "$nsB" 10.98.0.1 fd98::1 &&
		wait_for 10 settled "$nsH" && wait_for 10 settled "$nsA" && wait_for 10 settled "$nsB"
}

# usage: between LINK LINK: connected and datagrams, in all address families
between() {
	for HROCE_FAMILY in 4 6 link; do
		export HROCE_FAMILY
		from=$1 to=$2 traffic -n 100 && from=$1 to=$2 traffic -t ud -n 50 || return
	done
}

peers() { between nlva nlpa && between nlvb nlpb && between nlpb nlvb; }
itself() { between nlva nlva && between nlvb nlvb; }

itself_in_frames() {
	knob nlva local N && knob nlvb local N && itself
}

# The loopback addresses are in no table of a VRF.
loopback_source() {
	local before

	before=$(counter nlva rx_drop_source)
	ip netns exec "$nsA" net/spoof.py source 127.0.0.1 10.98.0.1 pa 02:00:00:00:00:01 &&
		wait_for 5 grows nlva rx_drop_source "$before" 1
}

topology || { tap_case vrf.topology false; tap_done; exit 1; }
tap_case vrf.peers peers
tap_case vrf.itself itself
tap_case vrf.itself_in_frames itself_in_frames
tap_case vrf.loopback_source loopback_source
tap_done
