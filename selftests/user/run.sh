#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test the provider without a device, for the libibverbs of this machine or, in its root file system, of Debian's SUITE.
#
#	run.sh [SUITE]

cd "$(dirname "$0")/../.." || exit 1
. selftests/lib/tap.sh

suite=${1:-}
build=${HROCE_BUILD:-$PWD/build}
out=$build/selftests-user${suite:+-$suite}
compilers=(gcc clang)
sanitizers=("address,undefined" thread)
# There, time goes for what differs: structures, functions and the loader.
[ -z "$suite" ] || { compilers=(gcc) sanitizers=("address,undefined"); }
mkdir -p "$build"
scratch=$(mktemp -d -p "$build")
trap 'rm -rf "$scratch"' EXIT
harness=$(selftests/lib/kernel-tests)/tools/testing/selftests || exit 1

# usage: there COMMAND...: where that libibverbs is
there() { if [ -n "$suite" ]; then selftests/vm/in-root "$suite" "$@"; else "$@"; fi; }

# usage: build_with COMPILER
build_with() {
	command -v "$1" >/dev/null || { echo "no $1"; return 4; }
	there make -C user BUILD="$scratch/$1" CC="$1" CFLAGS="-O2 -g -Werror" && compgen -G "$scratch/$1/libhroce-rdmav*.so"
}

# Nothing but what the library looks for: the constructor needs no name.
exports_nothing() {
	local names

	names=$(nm -D --defined-only "$plugin") || return 1
	[ -z "$names" ] || { echo "$names"; return 1; }
}

# usage: refuses_release RELEASE: a libibverbs of another release is seen when libhroce is built
refuses_release() {
	local output

	output=$(there make -C user BUILD="$scratch/refused" verbs_release="$1" 2>&1) && { echo "it builds"; return 1; }
	echo "$output"
	grep -q '#error.*private' <<<"$output"
}

# usage: make_tests SANITIZER
make_tests() {
	there make -C selftests/user -j"$(nproc)" SANITIZE="$1" OUT="$out/$1" KSELFTEST="$harness"
}

# usage: run_tests SANITIZER PROGRAM...
run_tests() {
	local sanitizer=$1 name

	shift
	for name in "$@"; do
		tap_stream "$sanitizer:" there "$out/$sanitizer/$name"
	done
}

# A made-up sysfs with one device makes libibverbs look for providers.
loaded_by_libibverbs() {
	local fs=$scratch/sysfs log=$scratch/loader namespaces=-rm

	mkdir -p "$fs"/class/infiniband_verbs/uverbs0 "$fs"/class/infiniband/test0
	echo test0 >"$fs"/class/infiniband_verbs/uverbs0/ibdev
	echo 231:192 >"$fs"/class/infiniband_verbs/uverbs0/dev
	echo 73 >"$fs"/class/infiniband_verbs/uverbs0/abi_version
	echo 6 >"$fs"/class/infiniband_verbs/abi_version
	echo "1: CA" >"$fs"/class/infiniband/test0/node_type

	# Below another root there are no user namespaces.
	[ -z "$suite" ] || namespaces=-m
	unshare $namespaces true 2>/dev/null || { echo "no user namespaces"; return 4; }
	there env SYSFS_PATH="$fs" RDMAV_DRIVERS="${plugin%-rdmav*}" LD_DEBUG=files unshare $namespaces sh -c \
		'mount -t tmpfs none /dev && mkdir /dev/infiniband && touch /dev/infiniband/uverbs0 && exec ibv_devices' \
		>"$log" 2>&1
	grep -q "calling init: .*-rdmav[0-9]*.so" "$log" ||
		{ echo "libibverbs loads no providers here"; return 4; }
	grep -q "calling init: $plugin" "$log" || { tail -n 40 "$log"; return 1; }
	! grep "couldn't load driver.*hroce" "$log"
}

for compiler in "${compilers[@]}"; do
	tap_case "build_with_$compiler" build_with "$compiler"
done
plugin=$(compgen -G "$scratch/gcc/libhroce-rdmav*.so")
tap_case exports_nothing exports_nothing
for release in 43 66; do
	tap_case "build_refuses_rdma_core_$release" refuses_release $release
done

for sanitizer in "${sanitizers[@]}"; do
	tap_case "tests_build_with_$sanitizer" make_tests "$sanitizer"
done
run_tests address,undefined unit_open unit_queue unit_ext unit_rate stress_ring
[ -n "$suite" ] || run_tests thread stress_ring

tap_case loads_and_registers there "$out/address,undefined/load" "$plugin"
tap_case loaded_by_libibverbs loaded_by_libibverbs
tap_done
