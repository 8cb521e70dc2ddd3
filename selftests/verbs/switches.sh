#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Verified data with each of the switches that change how packets are made and go: those of a link in debugfs, the
# methods of the ICRC, and offloads of a netdev. Counters prove that they were in force.
#
#	namespace A: nla on ea <----- veth -----> namespace B: nlb on eb

. "$(dirname "$0")/../net/lib.sh"

debugfs=/sys/kernel/debug/hroce

# A row for each method of the ICRC that this CPU can, but for the one that is in use all the time.
method_rows() {
	local name

	for name in $(sed 's/\[.*\]//' "$debugfs/icrc_method"); do
		echo "icrc_$name | wire | 4 | icrc_method=$name | summed>0 zeroed==0"
	done
}

# One row for each combination of switches:
#   ends	wire: between nla and nlb; self: nla with itself
#   IP		version
#   switches	NAME=VALUE: in debugfs, where all begin with gso=Y elide_icrc=N local=N poll_us=0 strict=Y; -NAME: an
#		offload that is turned off; rules: netfilter's INPUT and OUTPUT count packets to port 4791
#   proofs	what holds for each link: packets and frames sent, and frames that its netdev sent (wire); bytes sent, and
#		copied on the way; packets sent without a frame (direct); what the poller found (polled); short
#		frames seen whose ICRC is zero (zeroed), or is not (summed); packets that rules have counted on their
#		way in and out (ruled_in, ruled_out)
rows() {
	cat <<-ROWS
	super_packets  | wire | 4 |                      | frames<packets copied<bytes summed>0 zeroed==0
	single         | wire | 4 | gso=N                | frames==packets copied<bytes
	elided         | wire | 4 | elide_icrc=Y         | frames<packets zeroed>0
	split_by_stack | wire | 4 | -tx-udp-segmentation | frames<packets wire>=packets
	linear         | wire | 4 | -sg                  | copied==bytes
	no_checksum    | wire | 4 | -tx                  | frames==packets copied<bytes
	linear_single  | wire | 4 | -sg -tx elide_icrc=Y | frames==packets copied==bytes
	ipv6_single    | wire | 6 | gso=N elide_icrc=Y   | frames==packets copied<bytes
	ipv6_linear    | wire | 6 | -sg -tx              | frames==packets copied==bytes
	local          | self | 4 | local=Y              | direct==packets frames==0
	frames         | self | 4 | elide_icrc=Y         | direct==0 frames<packets zeroed>0
	polled         | self | 4 | local=Y poll_us=50000 | direct==packets polled>0
	polled_frames  | self | 4 | poll_us=50000        | direct==0 frames<packets polled>0
	frames_single  | self | 6 | gso=N                | direct==0 frames==packets summed>0 zeroed==0
	rules          | wire | 4 | rules elide_icrc=Y   | ruled_in>0 ruled_out>=frames frames<packets
	rules_passed   | wire | 4 | rules strict=N       | ruled_in==0 ruled_out==0 frames<packets
	rules_self     | self | 4 | rules local=Y        | direct==0 ruled_in>0 ruled_out>0
	rules_passed_self | self | 6 | rules local=Y strict=N | direct==packets ruled_in==0 ruled_out==0
	ROWS
	method_rows
}

# usage: rules NAMESPACE
rules() {
	ip netns exec "$1" nft -f - <<-NFT
	table inet switches {
		counter in { }
		counter out { }
		chain in { type filter hook input priority 0; udp dport 4791 counter name in accept; }
		chain out { type filter hook output priority 0; udp dport 4791 counter name out accept; }
	}
	NFT
}

# usage: ruled NAMESPACE in|out: packets that the rule has counted; 0 if there is none
ruled() {
	local nr

	nr=$(ip netns exec "$1" nft list counter inet switches "$2" 2>/dev/null | sed -n 's/.*packets \([0-9]*\) .*/\1/p')
	echo "${nr:-0}"
}

# usage: turn NAME=VALUE|-OFFLOAD|+OFFLOAD|rules...
turn() {
	local word onoff

	for word; do
		case $word in
		rules) rules "$nsA" && rules "$nsB" || return ;;
		icrc_method=*)
			echo "${word#*=}" >"$debugfs/icrc_method" && grep -qF "[${word#*=}]" "$debugfs/icrc_method" || return
			;;
		*=*)
			knob nla "${word%=*}" "${word#*=}" && knob nlb "${word%=*}" "${word#*=}" || return
			;;
		*)
			onoff=on
			[ "${word::1}" = + ] || onoff=off
			ip netns exec "$nsA" ethtool -K ea "${word:1}" $onoff &&
				ip netns exec "$nsB" ethtool -K eb "${word:1}" $onoff || return
			;;
		esac
	done
}

# What moves data, all kinds of it, with every byte checked.
data_moves() {
	"$build/data" lengths_rc_mtu4096 lengths_uc_mtu1024 &&
		"$build/sge" random_splits long_list small_message_burst_rc &&
		"$build/ud" lengths
}

# usage: snapshot LINK: the counters that proofs are about, one a line
snapshot() {
	local end=nsA dev=ea

	[ "$1" = nla ] || { end=nsB; dev=eb; }
	for name in tx_packets tx_frames tx_bytes tx_copied_bytes tx_local_packets polled; do counter "$1" $name; done
	ip netns exec "${!end}" cat /sys/class/net/$dev/statistics/tx_packets
	ruled "${!end}" in
	ruled "${!end}" out
}

# The last acknowledgements may be under way still.
settled() {
	local before

	before=$(counter "$1" tx_packets)
	sleep 0.1
	[ "$before" = "$(counter "$1" tx_packets)" ]
}

# usage: captured COMMAND...: run it, and count the short frames whose last four bytes, the ICRC, are zero or not
captured() {
	local status=0 pid

	ip netns exec "$nsA" tcpdump -i ea -n --immediate-mode -U -w "/tmp/frames-$id" \
		udp dst port 4791 and less 400 >"/tmp/frames-$id.log" 2>&1 &
	pid=$!
	wait_for 10 grep -q listening "/tmp/frames-$id.log" && "$@" || status=1
	kill $pid
	wait $pid
	read -r zeroed summed < <(tcpdump -r "/tmp/frames-$id" -n -x 2>/dev/null | awk '
		function icrc() { if (hex) nr[substr(hex, length(hex) - 7) == "00000000"]++; hex = "" }
		/^\t0x/ { for (i = 2; i <= NF; i++) hex = hex $i; next }
		{ icrc() }
		END { icrc(); print nr[1] + 0, nr[0] + 0 }')
	echo "$zeroed frames without ICRC, $summed with one"
	return $status
}

# usage: prove LINK BEFORE PROOF...
prove() {
	local link=$1 names=(packets frames bytes copied direct polled wire ruled_in ruled_out) before after i proof
	# shellcheck disable=SC2034
	local packets frames bytes copied direct polled wire ruled_in ruled_out

	mapfile -t before <<<"$2"
	wait_for 10 settled "$link" || return
	mapfile -t after < <(snapshot "$link")
	for i in "${!names[@]}"; do
		printf -v "${names[i]}" %d $((after[i] - before[i]))
		echo "$link ${names[i]} ${!names[i]}"
	done
	shift 2
	for proof; do
		((proof)) || { echo "$link: not $proof"; return 1; }
	done
}

# usage: combination ENDS FAMILY SWITCHES PROOFS
combination() {
	local ends=$1 switches proofs before_nla before_nlb zeroed summed

	read -ra switches <<<"$3"
	read -ra proofs <<<"$4"
	export HROCE_DEV=nla HROCE_DEV2=nlb HROCE_FAMILY=$2
	[ "$ends" = wire ] || unset HROCE_DEV2
	turn gso=Y elide_icrc=N local=N poll_us=0 strict=Y "${switches[@]}" || return
	before_nla=$(snapshot nla)
	before_nlb=$(snapshot nlb)
	if [[ $4 = *zeroed* ]]; then captured data_moves; else data_moves; fi || return
	prove nla "$before_nla" "${proofs[@]}" || return
	[ "$ends" = self ] || prove nlb "$before_nlb" "${proofs[@]}"
}

# usage: undo SWITCHES: offloads, rules, and the method of the ICRC
undo() {
	local word

	for word in $1; do
		case $word in
		icrc_method=*) turn "icrc_method=$method" || return ;;
		rules)
			ip netns exec "$nsA" nft delete table inet switches &&
				ip netns exec "$nsB" nft delete table inet switches || return
			;;
		-*) turn "+${word:1}" || return ;;
		esac
	done
}

row() {
	local status=0

	combination "$@" || status=$?
	undo "$3" || status=1
	return $status
}

# usage: refused REASON METHOD: the one in use stays
refused() {
	local before text

	before=$(cat "$debugfs/icrc_method")
	text=$(echo "$2" 2>&1 >"$debugfs/icrc_method") && { echo "$2: accepted"; return 1; }
	[[ $text = *"$1" ]] || { echo "$2: $text"; return 1; }
	[ "$(cat "$debugfs/icrc_method")" = "$before" ]
}

# What this CPU cannot is told from what is no method at all.
icrc_method_refused() {
	local name missing=0

	for name in kernel pclmul vpclmul_avx2 vpclmul_avx512; do
		grep -qw "$name" "$debugfs/icrc_method" && continue
		missing=$((missing + 1))
		refused "Operation not supported" "$name" || return
	done
	refused "Invalid argument" nonesuch && refused "Invalid argument" "" && refused "Invalid argument" shif || return
	[ $missing -gt 0 ] || { echo "this CPU can do all methods"; return 4; }
}

two_ends || { tap_case switches.topology false; tap_done; exit 1; }
knob nla local N
method=$(sed 's/.*\[\(.*\)\].*/\1/' "$debugfs/icrc_method")
mapfile -t table < <(rows)
for line in "${table[@]}"; do
	IFS='|' read -r name ends family switches proofs <<<"${line//[[:blank:]]|[[:blank:]]/|}"
	tap_case "switches.${name// /}" row "${ends// /}" "${family// /}" "$switches" "$proofs"
done
tap_case switches.icrc_method_refused icrc_method_refused
tap_done
