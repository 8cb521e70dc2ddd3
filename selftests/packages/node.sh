#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# usage: node.sh SUITE SERIES OTHER
# What the administrator of a node does with the packages that build.sh has built: install, upgrade, remove. In the root
# file system of a suite that has nothing but apt. DKMS builds the module for the kernel of the suite, and for that of
# SERIES from its backports, as their headers are installed. The packages of the suite OTHER are of no use here.

# shellcheck disable=SC2012,SC2045,SC2046 # names of packages and kernels have no blanks

cd "$(dirname "$0")/../.." || exit 1
suite=$1
series=$2
other=$3
. selftests/packages/lib.sh

key=/var/lib/dkms/mok.pub

# usage: version_of previous|current
version_of() { tar -xOf "$packages/$1.tar.gz" --wildcards '*/dkms.conf' | sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' | head -n 1; }

# usage: debs VERSION
debs() { find "$packages/$suite/$1" -name '*.deb' ! -name '*-dbgsym_*'; }

# usage: module KERNEL
module() { find "/lib/modules/$1/updates" -name 'hroce.ko*' 2>/dev/null | grep .; }

# What is there of files; those of apt and dpkg, and the lists of modules, change with every installation.
files() {
	find / -xdev \( -path /tmp -o -path /var/tmp -o -path /var/cache -o -path /var/log -o -path /var/lib/apt -o -path /var/lib/dpkg -o \
		-path /proc -o -path /dev \) -prune -o ! -path '/lib/modules/*/modules.*' ! -path '/usr/lib/modules/*/modules.*' \
		! -path /etc/ld.so.cache -print | sort
}

# All that the packages draw in, but not themselves: then whatever is there later is theirs.
dependencies() {
	local needed

	echo "deb $(sed -n 's/^deb \(\[.*\] \)\?\([^ ]*\) .*/\2/p' /etc/apt/sources.list | head -n 1) $suite-backports main" \
		>/etc/apt/sources.list.d/backports.list
	# The kernel that runs is none of those here, so DKMS would build for none as the package is installed.
	mkdir -p /etc/dkms/framework.conf.d
	echo 'autoinstall_all_kernels=yes' >/etc/dkms/framework.conf.d/all.conf
	apt update && needed=$(apt -s install $(debs current)) || { echo "$needed"; return 1; }
	mapfile -t needed < <(sed -n 's/^Inst \([^ ]*\) .*/\1/p' <<<"$needed" | grep -v hroce)
	echo "needed: ${needed[*]}"
	apt install "${needed[@]}" systemd && files >/tmp/before
}

installs() {
	apt install $(debs previous) || return
	! left_behind | grep -v hroce || return
	[ "$(dkms status hroce | cut -d, -f1 | cut -d: -f1)" = "hroce/$(version_of previous)" ]
}

# Another private interface.
refuses_other_library() {
	local said

	! said=$(apt -s install "$packages/$other/current"/libhroce_*.deb 2>&1) || { echo "$said"; return 1; }
	grep 'libhroce : .*Depends: libibverbs1 ' <<<"$said"
}

# usage: builds_for SERIES|"": as the headers of that kernel are installed
builds_for() {
	local package=linux-headers-amd64 kernel

	[ -z "$1" ] || package=$(apt-cache search --names-only "^linux-headers-${1//./\\.}\.[0-9]+\+[a-z0-9.]+-amd64$" |
		cut -d' ' -f1 | sort -V | tail -n 1)
	[ -n "$package" ] || { echo "no headers of $1"; return 1; }
	files >/tmp/with
	apt install "$package" || return
	# Kernels bring more packages along, which write files as well.
	comm -13 /tmp/with <(files) | grep -v -e hroce -e '/updates\(/dkms\)\?$' | sort -u -o /tmp/before - /tmp/before
	kernel=$(ls -t /lib/modules | head -n 1)
	has_version previous "$kernel"
}

# usage: has_version previous|current KERNEL
has_version() {
	local file found

	file=$(module "$2") && found=$(modinfo -F version "$file") && echo "$file: $found" && [ "$found" = "$(version_of "$1")" ]
}

# usage: all_have previous|current
all_have() {
	local kernel

	[ "$(ls /lib/modules | wc -l)" -ge 2 ] || { ls /lib/modules; return 1; }
	for kernel in $(ls /lib/modules); do
		has_version "$1" "$kernel" || return
	done
}

upgrades() {
	apt install $(debs current) && dkms status hroce && [ -z "$(dkms status "hroce/$(version_of previous)")" ] &&
		[ ! -e "/usr/src/hroce-$(version_of previous)" ] && all_have current
}

# usage: split FILE: split a module into FILE.module and FILE.signature
split() {
	local size length

	size=$(stat -c %s "$1") && [ "$(tail -c 28 "$1")" = '~Module signature appended~' ] || { echo "$1 is not signed"; return 1; }
	length=$((16#$(tail -c 32 "$1" | head -c 4 | od -An -tx1 | tr -d ' \n')))
	head -c $((size - 40 - length)) "$1" >"$1.module" && tail -c $((40 + length)) "$1" | head -c "$length" >"$1.signature"
}

verify() {
	openssl cms -verify -binary -inform DER -in "$1.signature" -content "$1.module" -nointern -noverify -out /dev/null \
		-certfile <(openssl x509 -inform DER -in "$key")
}

# As the kernel verifies it, once the firmware has enrolled the key.
signed_by_dkms() {
	local kernel file

	for kernel in $(ls /lib/modules); do
		file=$(module "$kernel") || return
		modinfo -F signer "$file" | tee /dev/stderr | grep -q 'DKMS module signing key' || return
		case $file in
		*.xz) xz -dc "$file" >/tmp/hroce.ko ;;
		*) cp "$file" /tmp/hroce.ko ;;
		esac
		split /tmp/hroce.ko && verify /tmp/hroce.ko || return
		# Another byte in the module is noticed.
		printf '\377' | dd of=/tmp/hroce.ko.module bs=1 seek=5000 conv=notrunc status=none
		! verify /tmp/hroce.ko || { echo "the signature does not depend on the module"; return 1; }
	done
}

tool_runs() { hroce --help && hroce link show && ! find /usr/share/hroce -name '__pycache__' | grep .; }

link_persists() {
	echo 'NAME=hroce0' >/etc/hroce/eth0.conf && systemctl enable hroce-link@eth0.service &&
		[ -L /etc/systemd/system/sys-subsystem-net-devices-eth0.device.wants/hroce-link@eth0.service ]
}

# What the administrator has configured stays until it is purged, the module does not.
removes() {
	apt remove hroce-dkms libhroce hroce-tools || return
	! module '*' || { module '*'; return 1; }
	ls /etc/hroce/eth0.conf /etc/libibverbs.d/hroce.driver && ! find /usr/src /var/lib/dkms -name 'hroce*' | grep .
}

# Files that were not there before, and are of no package. DKMS keeps the key that it has made, for all modules that it
# will ever build.
left_behind() {
	comm -13 /tmp/before <(files) | grep -vx -e "$key" -e "${key%.pub}.key" |
		grep -vxF -f <(cat /var/lib/dpkg/info/*.list | sed 's|^/lib/|/usr/lib/|')
}

no_trace() {
	! left_behind && ! comm -23 /tmp/before <(files) | grep .
}

purges() { apt purge hroce-dkms libhroce hroce-tools && no_trace; }

tap_case dependencies dependencies
tap_case installs_without_headers installs
tap_case refuses_other_library refuses_other_library
tap_case builds_for_kernel_of_suite builds_for ''
tap_case "builds_for_$series" builds_for "$series"
tap_case upgrades upgrades
tap_case signed_by_dkms signed_by_dkms
tap_case tool_runs tool_runs
tap_case link_persists link_persists
tap_case removes removes
tap_case purges purges
tap_done
