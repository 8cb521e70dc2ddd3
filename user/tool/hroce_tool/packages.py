# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Commands that install packages, of which Debian's names are given."""
import shutil

from .finding import command

# What RHEL and Fedora call otherwise. The release of the kernel follows the name of its headers.
RPM = (("linux-headers-", "kernel-devel-"), ("libibverbs1", "libibverbs"), ("iproute2", "iproute"))


def install(*names, again=False):
    if shutil.which("apt") or not shutil.which("dnf"):
        return command("apt", "install", *["--reinstall"] * again, *names)
    for ours, theirs in RPM:
        names = [name.replace(ours, theirs) for name in names]
    return command("dnf", "reinstall" if again else "install", *names)


def reinstall(*names):
    return install(*names, again=True)
