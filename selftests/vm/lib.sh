# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Shared by the scripts of selftests/vm: where things are, and how they are fetched.

vm_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck disable=SC2034
tree=$(cd "$vm_dir/../.." && pwd -P)
cache=${HROCE_CACHE:-$HOME/.cache/hroce}

say() { echo "${0##*/}: $*" >&2; }
die() { say "$*"; exit 2; }

# Take the lock NAME of the cache for the rest of this process; say so when that means waiting.
lock_cache() {
	local fd

	mkdir -p "$cache"
	exec {fd}>"$cache/$1.lock"
	flock -n "$fd" && return
	say "waiting for another run to finish with $cache/$1"
	flock "$fd"
	say "waited for it"
}

# Where this machine takes Debian's packages from.
debian_mirror() {
	local found

	# shellcheck disable=SC2016 # apt's variables
	found=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' | sed -n 's/^Debian Debian //p' | head -n 1)
	echo "${found:-http://deb.debian.org/debian/}"
}

# The files with the options of a kernel that build-kernel builds; what comes later counts.
kernel_configs() {
	case $1 in
	uml | debug) set -- machine "$1" ;;
	smp-debug) set -- machine debug qemu "$1" ;;
	kcsan) set -- machine qemu "$1" ;;
	gcov) set -- machine uml "$1" ;;
	esac
	printf "$vm_dir/%s.config\n" "$@"
}

# The directory of such a kernel: one for each flavour, configuration and kernel source.
kernel_dir() {
	local version hash configs

	version=$(dpkg-query -W -f '${Version}' linux-source-6.12) || return 1
	mapfile -t configs < <(kernel_configs "$1")
	hash=$({ echo "$version"; cat "${configs[@]}"; } | sha256sum | cut -c1-12)
	echo "$cache/$1-$hash"
}
