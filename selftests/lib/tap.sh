# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# TAP for shell scripts. Source it, call tap_case for each case (or tap_ok, tap_not_ok, tap_skip), then tap_done.
#
#	. "$(dirname "$0")/../lib/tap.sh"
#	tap_case "two_nodes_ping" ping -c 1 node2
#	tap_done

tap_count=0
tap_failures=0

tap_ok() { echo "ok $((++tap_count)) $1"; }
tap_skip() { echo "ok $((++tap_count)) $1 # SKIP ${2:-}"; }
tap_not_ok() {
	echo "not ok $((++tap_count)) $1"
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
