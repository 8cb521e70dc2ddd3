# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Shared by the scripts that run in the minimal root file system of $suite. Packages that they have fetched stay in the
# cache.

. selftests/lib/tap.sh
. selftests/vm/lib.sh

# shellcheck disable=SC2034
packages=${HROCE_BUILD:-$PWD/build}/packages
archives=$cache/archives-${suite:?}
mkdir -p "$archives/partial"
export DEBIAN_FRONTEND=noninteractive LC_ALL=C

apt() {
	apt-get -q -y -o Dir::Cache::archives="$archives" -o APT::Keep-Downloaded-Packages=1 -o APT::Sandbox::User=root \
		-o DPkg::Options::=--force-unsafe-io --no-install-recommends "$@" </dev/null
}
