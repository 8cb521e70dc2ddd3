#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run network tests inside a guest, one after the other: run.sh NAME...

. "$(dirname "$0")/../lib/tap.sh"

for name; do
	tap_stream '' "$(dirname "$0")/$name.sh"
done
tap_done
