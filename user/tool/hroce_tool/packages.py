# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Commands that install packages, of which Debian's names are given, and hroce itself."""
import shutil

from . import system
from .finding import command

# What RHEL and Fedora call otherwise. The release of the kernel follows the name of its headers.
RPM = (("linux-headers-", "kernel-devel-"), ("libibverbs1", "libibverbs"), ("iproute2", "iproute"))


# Those of hroce are in no archive.
OURS = ("hroce-dkms", "libhroce", "hroce-tools")


def install(*names):
    """With neither apt nor dnf, by whatever there is in their place."""
    if shutil.which("apt"):
        return command("apt", "install", *names)
    if shutil.which("dnf"):
        for ours, theirs in RPM:
            names = [name.replace(ours, theirs) for name in names]
        return command("dnf", "install", *names)
    return command("INSTALL", *names)


def install_ours(again=False):
    """Module and library of one release, in the way they were installed before, from their sources (install.rst)."""
    def by(*words):
        return any(system.once(*words, name).ok for name in OURS)

    if by("dpkg-query", "-W"):
        return f"cd SOURCES && make deb && apt install {'--reinstall ' * again}./build/deb/*.deb"
    if by("rpm", "-q"):
        # dnf leaves those that are of this release, too.
        how = "rpm -U --replacepkgs" if again else "dnf install"
        return f"cd SOURCES && make rpm && {how} ./build/rpm/*.x86_64.rpm ./build/rpm/*.noarch.rpm"
    return "make -C SOURCES && make -C SOURCES install"
