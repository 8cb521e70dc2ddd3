#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The tests of the command hroce, in a guest: run.sh NAME...

. "$(dirname "$0")/../lib/tap.sh"

for name; do
	tap_stream '' "$(dirname "$0")/$name.py"
done
tap_done
