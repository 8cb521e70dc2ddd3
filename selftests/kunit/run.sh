#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# usage: run.sh DIRECTORY
# In a guest: load the modules that build has put into DIRECTORY, which runs their suites, and leave the results of each
# in VM_OUT.

set -e
results=/sys/kernel/debug/kunit

mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
modprobe kunit
for part in req resp; do
	insmod "$1/$part/hroce_kunit_$part.ko"
done
for suite in "$results"/hroce_*; do
	cp "$suite/results" "${VM_OUT:?}/${suite##*/}"
done
rmmod hroce_kunit_req hroce_kunit_resp
