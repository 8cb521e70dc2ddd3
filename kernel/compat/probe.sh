#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# probe.sh PROBES OUTPUT COMPILER ARGUMENTS...
#
# Writes to OUTPUT one "#define HROCE_HAVE_NAME 1" for each PROBES/name.c that
# compiles without a warning.

probes=$1
output=$2
shift 2

object=$(mktemp) || exit 1
trap 'rm -f "$object"' EXIT

{
	echo '/* Written by probe.sh. */'
	for probe in "$probes"/*.c; do
		name=$(basename "$probe" .c | tr '[:lower:]' '[:upper:]')
		if "$@" -Werror -c -o "$object" "$probe" 2>/dev/null; then
			echo "#define HROCE_HAVE_$name 1"
		fi
	done
} >"$output"
