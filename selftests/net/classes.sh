#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The class of frames, as a switch sees it: the priority in the VLAN tag (PCP) and the DSCP, of requests and of what is
# sent in answer. The VLAN devices translate socket priorities by a map that is not the identity.
#
#	namespace A: nlva on ea.7 on ea <----- veth -----> namespace B: nlvb on eb.7 on eb

. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/lib/programs.sh
. lib/programs.sh

# Priority 2 is that of a TOS of 104, DSCP 26. No priority becomes 2.
map=(0:0 1:7 2:3 3:5 4:6 5:4 6:1)
out=/tmp/classes-$id

# Opcodes of requests, and of answers.
rc_send='0x0[0-5]' uc_send='0x2[0-5]' ud_send=0x64 read_response='0x0[def]|0x10' ack=0x11 cnp=0x81

topology() {
	two_ends 4200 bare || return
	for end in A B; do
		local ns=ns$end dev=eb
		[ $end = B ] || dev=ea
		ip -n "${!ns}" link add link $dev name $dev.7 type vlan id 7 egress-qos-map "${map[@]}" || return
	done
	address "$nsA" ea.7 1 91 && address "$nsB" eb.7 2 91 && add_link "$nsA" nlva ea.7 && add_link "$nsB" nlvb eb.7 &&
		reaches "$nsA" 10.91.0.2 fd91::2
}

# GIDs of addresses, less the last digit.
ipv4=0000:0000:0000:0000:0000:ffff:0a5b:000
ipv6=fd91:0000:0000:0000:0000:0000:0000:000

# usage: listen NAMESPACE NETDEV: count what leaves by it. To start Python takes seconds, so this is for all cases.
listeners=()
listen() {
	ip netns exec "$1" net/classes.py "$2" "$out-$2" &
	listeners+=($!)
	wait_for 20 [ -e "$out-$2" ]
}

# What has left since the last call is in $out-NETDEV.
told() {
	rm "$out-ea" "$out-eb"
	kill -USR1 "${listeners[@]}" && wait_for 20 [ -e "$out-ea" ] && wait_for 20 [ -e "$out-eb" ]
}
listening() {
	local status=0

	told && "$@" || status=$?
	told || status=1
	head -n 40 "$out-ea" "$out-eb"
	return "$status"
}

# usage: left NETDEV OPCODES CLASS: frames with these opcodes have left by it, all of them in that class, a pattern of
# "pcp=P dscp=D ecn=E"
left() {
	local frames

	frames=$(grep -E "^opcode=($2) " "$out-$1") || { echo "$1: no $2"; return 1; }
	! grep -vE "^opcode=[^ ]* $3 " <<<"$frames" || { echo "$1: expected $2 as $3"; return 1; }
}

# usage: pair PROGRAM OPTIONS [-- OPTIONS-OF-B]: a program of perftest between nlva and nlvb, or $to
pair() {
	local program=$1 a=() b to=${to:-nlvb} pid status=0

	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do a+=("$1") && shift; done
	[ $# -gt 0 ] && shift && b=("$@") || b=("${a[@]}")
	ip netns exec "$nsB" timeout 100 nice -n 19 "$program" -F -n 20 -d "$to" "${b[@]}" >"$out-server" 2>&1 &
	pid=$!
	ip netns exec "$nsB" lib/listens 60 18515 || { kill $pid; wait $pid; cat "$out-server"; return 1; }
	ip netns exec "$nsA" "${as[@]}" timeout 60 nice -n 19 "$program" -F -n 20 -d "${from:-nlva}" "${a[@]}" 10.91.0.2 ||
		status=$?
	[ $status = 0 ] || kill $pid
	wait $pid || { cat "$out-server"; return 1; }
	return $status
}
as=()

# usage: verbs PROGRAM OPTIONS [-- OPTIONS-OF-B]: without rdma_cm, from and to GIDs that begin with $prefix
verbs() {
	local a b

	a=$(gid_index nlva "${prefix:-$ipv4}1") b=$(gid_index nlvb "${prefix:-$ipv4}2")
	[ "$a" = "$b" ] || { echo "the GIDs have indices '$a' and '$b'"; return 1; }
	listening pair "$1" -x "$a" "${@:2}"
}

rc() {
	verbs ib_send_lat --sl 3 --tclass 107 && left ea "$rc_send" "pcp=3 dscp=26 ecn=2" &&
		left eb "$rc_send" "pcp=3 dscp=26 ecn=2"
}
rc_ipv6() { prefix=$ipv6 rc; }
uc() { verbs ib_send_lat -c UC --sl 5 --tclass 107 && left ea "$uc_send" "pcp=5 dscp=26 ecn=2"; }
ud() { verbs ib_send_lat -c UD --sl 6 --tclass 105 && left ea "$ud_send" "pcp=6 dscp=26 ecn=0"; }

# What answers has the class of the responder's own address vector.
answers() {
	verbs ib_read_lat --sl 3 --tclass 104 && left ea 0x0c "pcp=3 dscp=26 ecn=2" &&
		left eb "$read_response" "pcp=3 dscp=26 ecn=2" || return
	verbs ib_write_bw -s 8 --sl 3 --tclass 104 && left ea '0x0[6-9ab]' "pcp=3 dscp=26 ecn=2" &&
		left eb "$ack" "pcp=3 dscp=26 ecn=0"
}
answers_of_other_class() {
	local x

	x=$(gid_index nlvb "${ipv4}2")
	verbs ib_read_lat --sl 3 --tclass 104 -- -x "$x" --sl 5 --tclass 40 && left ea 0x0c "pcp=3 dscp=26 ecn=2" &&
		left eb "$read_response" "pcp=5 dscp=10 ecn=2"
}

# Requests are ECN-capable if something reacts to marks, which none does not.
own_control() {
	local file=/sys/kernel/debug/hroce/nlva/cc_class

	knob nlva cc_class "3 none" && knob nlva cc_class "5 dcqcn" && knob nlva cc_class 6\ \ delay &&
		[ "$(grep -v link <$file | tr '\n' ,)" = "3 none,5 dcqcn,6 delay," ] && [ "$(wc -l <$file)" = 16 ] || return
	for words in "16 none" "-1 none" "3 other" "3" "none" " " "3 none 4" "3none"; do
		! knob nlva cc_class "$words" 2>/dev/null || { echo "accepted: '$words'"; return 1; }
	done
	verbs ib_send_lat --sl 3 && left ea "$rc_send" "pcp=3 dscp=0 ecn=0" &&
		verbs ib_send_lat --sl 5 && left ea "$rc_send" "pcp=5 dscp=0 ecn=2" || return
	knob nlva cc none && verbs ib_send_lat --sl 6 && left ea "$rc_send" "pcp=6 dscp=0 ecn=2" &&
		verbs ib_send_lat --sl 4 && left ea "$rc_send" "pcp=4 dscp=0 ecn=0" && knob nlva cc delay || return
	knob nlva cc_class "3 link" && verbs ib_send_lat --sl 3 && left ea "$rc_send" "pcp=3 dscp=0 ecn=2"
}

# A service level that the map does not know is the priority that it translates.
not_in_map() { verbs ib_send_lat --sl 2 && left ea "$rc_send" "pcp=3 dscp=0 ecn=2"; }

# The map of the administrator makes 7 of a low priority, which takes no capability.
unprivileged() {
	local as=(setpriv --bounding-set=-net_admin --inh-caps=-net_admin)

	verbs ib_send_lat --sl 7 && left ea "$rc_send" "pcp=7 dscp=0 ecn=2"
}

# usage: sent NAMESPACE NETDEV PRIORITY: packets, by the class of qdisc prio that it has
sent() {
	tc -n "$1" -s class show dev "$2" | grep -A 1 "class prio 1:$(printf %x $(($3 + 1))) " |
		sed -n 's/.* \([0-9]*\) pkt .*/\1/p'
}
qdisc() {
	tc -n "$nsA" qdisc add dev ea root handle 1: prio bands 16 priomap 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 &&
		tc -n "$nsB" qdisc add dev eb root handle 1: prio bands 16 priomap 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 &&
		verbs ib_write_bw -s 8 --sl 3 || return
	tc -n "$nsA" -s class show dev ea
	[ "$(sent "$nsA" ea 2)" -ge 20 ] && [ "$(sent "$nsB" eb 2)" -ge 1 ] && [ "$(sent "$nsA" ea 3)" = 0 ] || return
	tc -n "$nsA" qdisc del dev ea root && tc -n "$nsB" qdisc del dev eb root
}

# The TOS of connections by rdma_cm, set for all of a link. Both ends have its class.
rping() {
	local status=0

	ip netns exec "$nsB" timeout 40 rping -s -a 10.91.0.2 -C 5 -V &
	wait_for 10 cm_listens || return
	ip netns exec "$nsA" timeout 30 rping -c -a 10.91.0.2 -C 5 -V || status=$?
	wait $! && return $status
}
# usage: with_default TOS COMMAND...: that is the TOS of connections by nlva meanwhile
with_default() {
	local dir=/sys/kernel/config/rdma_cm/nlva status=0

	[ -d "${dir%/*}" ] || mount -t configfs configfs /sys/kernel/config
	mkdir "$dir" || return
	echo "$1" >"$dir/ports/1/default_roce_tos" && "${@:2}" || status=$?
	# It outlives the directory.
	echo 0 >"$dir/ports/1/default_roce_tos"
	rmdir "$dir"
	return $status
}
default_tos() {
	with_default 104 listening rping && left ea "$rc_send" "pcp=3 dscp=26 ecn=2" &&
		left ea "$read_response" "pcp=3 dscp=26 ecn=2" && left eb 0x0c "pcp=3 dscp=26 ecn=2"
}

# The class of queue pairs: with it one knows whose priority is paused.
shows_class() { rdma -dd resource show qp link "$1/1" | grep -q "type RC state RTS .* drv_sl $2 drv_dscp $3 "; }
rping_is_shown() {
	local pids=() status=0

	ip netns exec "$nsB" timeout 60 rping -s -a 10.91.0.2 &
	pids+=($!)
	wait_for 10 cm_listens || status=1
	ip netns exec "$nsA" timeout 60 rping -c -a 10.91.0.2 &
	pids+=($!)
	wait_for 20 shows_class nlva 3 26 && wait_for 20 shows_class nlvb 3 26 || status=1
	[ $status = 0 ] || rdma -dd resource show qp
	kill "${pids[@]}"
	wait "${pids[@]}"
	return $status
}
class_is_shown() { with_default 104 rping_is_shown; }

# usage: program_sets FAMILY OPTIONS...: a program connects by rdma_cm, and may set the TOS of that connection (-t)
program_sets() {
	local format=$1 address=10.91.0.2 common=(-c 1 -C 5 -S 64) status=0

	shift
	[ "$format" = ip ] || address=fd91::2
	ip netns exec "$nsB" timeout 40 ucmatose -f "$format" -b $address "${common[@]}" >"$out-server" 2>&1 &
	wait_for 10 cm_listens || { cat "$out-server"; return 1; }
	ip netns exec "$nsA" timeout 30 ucmatose -f "$format" -s $address "${common[@]}" "$@" || status=$?
	wait $! || { cat "$out-server"; return 1; }
	return $status
}

# usage: both_send CLASS: both ends have sent messages in it, and nothing else
both_send() { left ea "$rc_send" "$1" && left eb "$rc_send" "$1"; }

# The TOS gives the priority, and that the SL by the map. What the program sets goes before the default of the link.
own_tos() {
	listening program_sets ip && both_send "pcp=0 dscp=0 ecn=2" &&
		listening program_sets ip -t 107 && both_send "pcp=3 dscp=26 ecn=2" &&
		listening program_sets ip -t 185 && both_send "pcp=6 dscp=46 ecn=2" &&
		listening program_sets ipv6 -t 107 && both_send "pcp=3 dscp=26 ecn=2" &&
		with_default 104 listening program_sets ip -t 185 && both_send "pcp=6 dscp=46 ecn=2"
}

# Congestion notification packets have a class of their own, whatever that of the packets.
notifications() {
	ip netns exec "$nsA" nft -f - <<-NFT || return
	table inet t {
		chain c {
			type filter hook postrouting priority 0; policy accept;
			meta nfproto ipv4 udp dport 4791 ip ecn set ce
		}
	}
	NFT
	verbs ib_send_lat --sl 3 --tclass 104 && left eb "$cnp" "pcp=6 dscp=48 ecn=2" || return
	knob nlvb np_cnp_prio 5 && knob nlvb np_cnp_dscp 46 &&
		verbs ib_send_lat --sl 3 --tclass 104 && left eb "$cnp" "pcp=5 dscp=46 ecn=2" || return
	ip netns exec "$nsA" nft flush ruleset
}

# The VLAN device is not that of the link, but below it.
above_vlan() {
	ip -n "$nsA" link add mva link ea.7 type macvlan mode bridge && address "$nsA" mva 3 91 &&
		add_link "$nsA" nlma mva || return
	listening from_above && left ea "$rc_send" "pcp=3 dscp=26 ecn=2"
}
from_above() {
	from=nlma pair ib_send_lat -x "$(gid_index nlma "${ipv4}3")" --sl 3 --tclass 104 -- \
		-x "$(gid_index nlvb "${ipv4}2")" --sl 3 --tclass 104
}

topology && listen "$nsA" ea && listen "$nsB" eb || { tap_case classes.topology false; tap_done; exit 1; }
tap_case classes.rc rc
tap_case classes.rc_ipv6 rc_ipv6
tap_case classes.uc uc
tap_case classes.ud ud
tap_case classes.answers answers
tap_case classes.answers_of_other_class answers_of_other_class
tap_case classes.not_in_map not_in_map
tap_case classes.unprivileged unprivileged
tap_case classes.own_control own_control
tap_case classes.qdisc qdisc
tap_case classes.default_tos default_tos
tap_case classes.class_is_shown class_is_shown
tap_case classes.own_tos own_tos
tap_case classes.notifications notifications
tap_case classes.above_vlan above_vlan
kill "${listeners[@]}" && wait "${listeners[@]}" 2>/dev/null
tap_done
