#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The real dkms builds, upgrades, removes and skips. Started by groups-versions/13-dkms in a mount namespace of its own: what
# dkms writes below /lib/modules, /usr/src and /var/lib/dkms goes to a tmpfs and ends with this process.

cd "$(dirname "$0")/../.." || exit 1
. selftests/lib/tap.sh
. selftests/vm/lib.sh

release=$(cat "$cache/kernel-6.1/release")
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
newer=98.7.6

# usage: writable DIRECTORY
writable() {
	local changes=$scratch/$1

	mkdir -p "$changes/upper" "$changes/work" &&
		mount -t overlay -o "lowerdir=$1,upperdir=$changes/upper,workdir=$changes/work" changes "$1"
}

private_trees() {
	mkdir -p /var/lib/dkms && mount -t tmpfs dkms /var/lib/dkms &&
		mount -t tmpfs changes "$scratch" && writable /usr/src && writable /lib/modules
}

# usage: add VERSION: the sources as "make install-dkms" installs them, with another version in its one place
add() {
	local to=/usr/src/hroce-$1

	if [ ! -d "$to" ]; then
		make -s install-dkms DESTDIR="$scratch/source" && mv "$scratch/source$(dirname "$to")/hroce-$version" "$to" &&
			sed -i "s/^PACKAGE_VERSION=.*/PACKAGE_VERSION=\"$1\"/" "$to/dkms.conf" || return
	fi
	[ -n "$(dkms status "hroce/$1")" ] || dkms add "hroce/$1"
}

# Whatever is made from the sources of another version has that one.
library_and_man_page() {
	local from=$scratch/newer to=$scratch/installed

	mkdir "$from" && cp -r dkms.conf include user "$from" &&
		sed -i "s/^PACKAGE_VERSION=.*/PACKAGE_VERSION=\"$newer\"/" "$from/dkms.conf" &&
		make -s -C "$from/user" BUILD="$from/build" DESTDIR="$to" MANDIR=/man LIBDIR=/lib install || return
	head -n 3 "$to/man/man7/hroce.7"
	grep -q "^\.TH HROCE 7 .*\"hroce $newer\"" "$to/man/man7/hroce.7" && grep -qa "libhroce $newer" "$to"/lib/libibverbs/*.so
}

# usage: installed VERSION: is that the version of the module that modprobe would load, and of the device's firmware?
installed() {
	local file found

	file=$(modinfo -k "$release" -n hroce) && found=$(modinfo -F version "$file") && echo "$file has version $found" &&
		[[ $file = */updates/dkms/* ]] && [ "$found" = "$1" ] && grep -qa "$1" "$file"
}

# What the package manager calls for each kernel that it installs.
builds_and_installs() {
	add "$version" && dkms autoinstall -k "$release" && installed "$version"
}

upgrades() {
	local said

	add "$newer" && said=$(dkms install "hroce/$newer" -k "$release" 2>&1) || { echo "$said"; return 1; }
	echo "$said"
	! grep -e 'exactly matches' -e 'bad exit status' <<<"$said" && installed "$newer"
}

removes() {
	local left

	dkms remove "hroce/$newer" --all && dkms remove "hroce/$version" --all || return 1
	left=$(find /lib/modules /var/lib/dkms -name '*hroce*')
	[ -z "$left" ] || { echo "left behind: $left"; return 1; }
}

# usage: skips RELEASE OPTION...: a kernel with such a configuration is left out, and that is no failure
skips() {
	local build=/lib/modules/$1/build status=0

	mkdir -p "$build/include" && printf 'CONFIG_%s=y\n' "${@:2}" >"$build/.config" && touch "$build/Makefile" || return
	add "$version" || return
	dkms autoinstall -k "$1" || { echo "autoinstall: exit status $?"; return 1; }
	dkms build "hroce/$version" -k "$1" || status=$?
	[ "$status" = 77 ] || { echo "build: exit status $status, not 77"; return 1; }
}

scratch=$(mktemp -d)
trap 'umount -l "$scratch"; rmdir "$scratch"' EXIT
private_trees || exit 1

tap_case version.library_and_man_page library_and_man_page
tap_case dkms.skips_old_kernel skips 5.10.0-1-test 64BIT INFINIBAND NETFILTER_INGRESS
tap_case dkms.skips_unknown_kernel skips 99.0.0-test 64BIT INFINIBAND NETFILTER_INGRESS
tap_case dkms.skips_kernel_without_rdma skips 6.12.0-cloud-test 64BIT NETFILTER_INGRESS
tap_case dkms.builds_and_installs builds_and_installs
tap_case dkms.skips_when_installed skips 5.10.0-2-test 64BIT INFINIBAND NETFILTER_INGRESS
tap_case dkms.upgrades upgrades
tap_case dkms.removes removes
tap_done
