# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# TAP for shell scripts. Source it, call tap_case for each case (or tap_ok, tap_not_ok, tap_skip), and tap_stream for
# programs that write TAP themselves, then tap_done.
#
#	. "$(dirname "$0")/../lib/tap.sh"
#	tap_case "two_nodes_ping" ping -c 1 node2
#	tap_done

tap_count=0
tap_failures=0

# usage: tap_line "ok"|"not ok" NAME
tap_line() {
	[ "$tap_count" != 0 ] || echo "TAP version 13"
	echo "$1 $((++tap_count)) $2"
}

tap_ok() { tap_line ok "$1"; }
tap_skip() { tap_line ok "$1 # SKIP ${2:-}"; }
tap_not_ok() {
	tap_line "not ok" "$1"
	tap_failures=$((tap_failures + 1))
}

# usage: tap_case NAME COMMAND...
# One case: COMMAND is to succeed; with status 4 it counts as skipped. Its output is shown as a comment, when it has
# failed.
tap_case() {
	local name=$1 output status=0

	shift
	output=$("$@" 2>&1) || status=$?
	case $status in
	0) tap_ok "$name" ;;
	4) tap_skip "$name" "$(tail -n 1 <<<"$output")" ;;
	*)
		tail -n "${TAP_LINES:-60}" <<<"$output" | sed 's/^/# /'
		tap_not_ok "$name"
		;;
	esac
	return 0
}

# usage: tap_build NAME COMMAND...: a case that builds something, and whose standard error is shown as it comes
tap_build() {
	local name=$1

	shift
	{ tap_case "$name" tap_loudly "$@"; } 3>&1
}
tap_loudly() { "$@" 2>&3; }

# usage: tap_stream PREFIX COMMAND...
# The cases of a program that writes TAP itself become ours, their names behind PREFIX. One that does not run all that it
# planned, or that fails although no case did, is a failed case. Other lines become comments.
tap_stream() {
	local prefix=$1 planned='' ran=$tap_count failures=$tap_failures status=none line
	local result='^(not )?ok( +[0-9]+)?( +-)?( +(.*))?$' plan='^1\.\.([0-9]+)( *# *SKIP *(.*))?$'

	shift
	while IFS= read -r line; do
		if [[ $line =~ $result ]]; then
			if [ -n "${BASH_REMATCH[1]}" ]; then tap_not_ok "$prefix${BASH_REMATCH[5]}"; else tap_ok "$prefix${BASH_REMATCH[5]}"; fi
		elif [[ $line =~ $plan ]]; then
			planned=${BASH_REMATCH[1]}
			if [ "$planned" = 0 ]; then tap_skip "${prefix}all" "${BASH_REMATCH[3]}" && planned=1; fi
		elif [[ $line == "exit status "* ]]; then
			status=${line##* }
		elif [[ -n $line && $line != "TAP version "* ]]; then
			echo "# ${line#\# }"
		fi
	done < <("$@" 2>&1 </dev/null; printf '\nexit status %d\n' $?)
	ran=$((tap_count - ran))
	if [ "$planned" != "$ran" ]; then
		tap_not_ok "${prefix}plan: ${planned:-none}, ran $ran, exit status $status"
	elif [ "$status" != 0 ] && [ "$status" != 4 ] && [ "$failures" = "$tap_failures" ]; then
		tap_not_ok "${prefix}exit_status_$status"
	fi
}

# usage: tap_skip_all REASON
tap_skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

# usage: wait_for SECONDS COMMAND...: until it succeeds
wait_for() {
	local end=$((SECONDS + $1))

	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || { echo "waited in vain for: $*"; return 1; }
		sleep 0.05
	done
}

# Print the plan and return whether all went well: the last command of the script.
tap_done() {
	echo "1..$tap_count"
	[ "$tap_failures" -eq 0 ]
}
