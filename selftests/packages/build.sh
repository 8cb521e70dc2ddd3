#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# usage: build.sh SUITE
# Build the packages of the archives previous.tar.gz and current.tar.gz in the root file system of a suite that has nothing
# but what they say they need, into SUITE/previous and SUITE/current.

cd "$(dirname "$0")/../.." || exit 1
suite=$1
. selftests/packages/lib.sh

# usage: build VERSION
build() {
	local tree=/tmp/$1 out=$packages/$suite/$1

	make -C "$tree" deb && rm -rf "$out" && mkdir -p "$out" && cp "$tree"/build/deb/*.deb "$out"
}

build_dependencies() {
	apt update && for version in previous current; do
		mkdir "/tmp/$version" && tar -C "/tmp/$version" -xf "$packages/$version.tar.gz" --strip-components=1 &&
			apt build-dep "/tmp/$version" || return
	done
}

tap_case build_dependencies build_dependencies
tap_case build_previous build previous
tap_case build_current build current
tap_done
