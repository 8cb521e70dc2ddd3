#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run network tests inside a guest, one after the other: run.sh NAME...

status=0
for name; do
	"$(dirname "$0")/$name.sh" || status=1
done
exit "$status"
