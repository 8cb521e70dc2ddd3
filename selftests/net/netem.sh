#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Bad networks: all data arrives intact, whatever is lost, doubled, late or damaged.
#
#	namespace A                       namespace B
#	nla on ea  <----- veth, netem on both ends ----->  nlb on eb
#
# netem handles a super-packet as one, so each condition is tried with and without segmentation offload.

. "$(dirname "$0")/lib.sh"

# usage: netem WORDS...: the same on both ends, or "none"
netem() {
	local end

	for end in "$nsA ea" "$nsB eb"; do
		# shellcheck disable=SC2086
		set -- $end "$@"
		tc -n "$1" qdisc del dev "$2" root 2>/dev/null
		[ "$3" = none ] || tc -n "$1" qdisc add dev "$2" root netem limit 10000 "${@:3}" || return
		shift 2
	done
}

# usage: both COUNTER: of the two links
both() { echo $(($(counter nla "$1") + $(counter nlb "$1"))); }

# usage: bad_as WORDS: the network was, as the qdiscs and the counters of the links tell
bad_as() {
	local it

	for it in "${!shows[@]}"; do
		[[ $1 != *$it* ]] || [ "$(both "${shows[$it]}")" -gt "${was[$it]}" ] || { echo "no ${shows[$it]}"; return 1; }
	done
	[[ $1 != *loss* || $seen = *"dropped "[1-9]* ]] && [[ $1 = none || $seen = *netem* ]]
}

# Traffic, and proof that the network was as bad as announced; chance may spare some hundred frames, but not five times.
declare -A shows=([reorder]=out_of_sequence [duplicate]=duplicates [corrupt]=rx_drop_icrc) was
bad_traffic() {
	local words=$1 seen round it

	shift
	for it in "${!shows[@]}"; do was[$it]=$(both "${shows[$it]}"); done
	for round in 1 2 3 4 5; do
		traffic "$@" || return
		seen=$(tc -s -n "$nsA" qdisc show dev ea; tc -s -n "$nsB" qdisc show dev eb)
		echo "round $round: $seen"
		! bad_as "$words" || break
	done
	bad_as "$words" && { [ "$words" != none ] || ! grep -q netem <<<"$seen"; }
}

# usage: under NAME "NETEM WORDS" OPTIONS...
under() {
	local name=$1 words=$2

	shift 2
	# shellcheck disable=SC2086
	netem $words || return
	tap_case "netem.${name}_$mode" bad_traffic "$words" -e 13 -s "$((seed += 1))" "$@"
	netem none
}

# Requests behind a lost or late one were kept, and answers at the end that reads, and none are any more.
was_kept() {
	[ "$(counter nla kept)" -gt 0 ] && [ "$(counter nlb kept)" -gt 0 ] && [ "$(counter nla answers_kept)" -gt 0 ] &&
		[ "$(cat /sys/kernel/debug/hroce/nla/kept_bytes)" = 0 ] && [ "$(cat /sys/kernel/debug/hroce/nlb/kept_bytes)" = 0 ]
}

# Peers have told each other which.
was_told() {
	local link

	for link in nla nlb; do
		[ "$(counter "$link" sack_asked)" -gt 0 ] && [ "$(counter "$link" sack_sent)" -gt 0 ] &&
			[ "$(counter "$link" sack_rcvd)" -gt 0 ] || return
	done
}

# The switch is off.
bad_traffic_unkept() {
	local before

	before=$(counter nla kept)+$(counter nlb kept)
	knob nla keep_mb 0 && knob nlb keep_mb 0 || return
	bad_traffic "$@" || return
	knob nla keep_mb 64 && knob nlb keep_mb 64 || return
	[ $((before)) = $(($(counter nla kept) + $(counter nlb kept))) ]
}

# Frames within a host that come by ifb, where netem takes their destructor away.
ingress_within_a_host() {
	local to=nla status=0

	knob nla local N && ip -n "$nsA" link add ifb0 mtu 4200 type ifb && ip -n "$nsA" link set ifb0 up &&
		tc -n "$nsA" qdisc add dev ifb0 root netem delay 1ms && tc -n "$nsA" qdisc add dev ea clsact &&
		tc -n "$nsA" filter add dev ea ingress matchall action mirred egress redirect dev ifb0 || return
	traffic -n 60 && traffic -t ud -n 30 || status=1
	tc -s -n "$nsA" qdisc show dev ifb0 | grep 'Sent [1-9]' || status=1
	ip -n "$nsA" link del ifb0 && tc -n "$nsA" qdisc del dev ea clsact && knob nla local Y && return $status
}

# tbf cuts the long ones of frames within a host, so that they lose their destructor. UC cannot ask again.
cut_on_the_way() {
	local drops packets status=0

	tc -n "$nsA" qdisc add dev ea root tbf rate 4gbit burst 20kb limit 20mb || return
	drops=$(counter nlb rx_drop_icrc) packets=$(counter nlb rx_packets)
	traffic -t uc -L -n 500 || status=1
	drops=$(($(counter nlb rx_drop_icrc) - drops)) packets=$(($(counter nlb rx_packets) - packets))
	echo "$drops of $packets packets had no ICRC"
	tc -n "$nsA" qdisc del dev ea root
	[ $status = 0 ] && [ "$drops" -gt 0 ] && [ $((drops * 20)) -lt "$packets" ]
}

seed=100
{ two_ends && keep_neighbours; } || { tap_case netem.topology false; tap_done; exit 1; }
for mode in gso frames; do
	for link in nla nlb; do
		knob "$link" gso "$([ $mode = gso ] && echo Y || echo N)"
	done
	under clean none -n 400
	under loss_1_percent "loss 1%" -n 250
	under loss_5_percent "loss 5%" -n 80
	under reorder "delay 1ms reorder 70% 50%" -n 150
	# Copies of super-packets, which have no ICRC within a host, are not believed.
	shows[duplicate]=$([ $mode = gso ] && echo rx_drop_icrc || echo duplicates)
	under duplicate "duplicate 10%" -n 250
	under corrupt "corrupt 2%" -n 200
	under delay "delay 5ms 4ms" -n 60
	under all_at_once "delay 1ms 1ms loss 1% duplicate 2% corrupt 1%" -n 60
	under uc_loss "loss 1%" -t uc -L -n 100 -x 20000
	under ud_loss "loss 5%" -t ud -L -n 100
done
for link in nla nlb; do
	knob "$link" gso Y
	knob "$link" elide_icrc N
done
mode=icrc
under clean none -n 300
under duplicate "duplicate 10%" -n 100
under corrupt "corrupt 2%" -n 100
under loss_1_percent "loss 1%" -n 150
tap_case netem.was_kept was_kept
tap_case netem.was_told was_told
netem loss 1% delay 1ms reorder 70% 50%
tap_case netem.unkept bad_traffic_unkept loss -e 13 -s "$((seed += 1))" -n 100
netem none
for link in nla nlb; do knob "$link" elide_icrc Y; done
tap_case netem.cut_on_the_way cut_on_the_way
tap_case netem.ingress_within_a_host ingress_within_a_host
tap_done
