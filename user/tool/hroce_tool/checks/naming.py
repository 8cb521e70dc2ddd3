# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Links that udev has renamed."""
import os
import re

from .. import device
from ..finding import command, warning

# What rdma_rename of rdma-core makes: ro, ce or ib, and a place (p1s2f0, o1, x and a MAC address).
GENERATED = re.compile(r"(roce|ib|iw|opa|efa)(p\d+|P\d+p\d+|o\d+|x[0-9a-f]{12})(s\d+)?(f\d+)?")


def keep():
    """So that it does not happen again where the rules of hroce, which prevent it, are not installed."""
    if any(os.path.exists(f"{directory}/udev/rules.d/59-hroce.rules") for directory in ("/usr/lib", "/lib", "/etc")):
        return ""
    return " && ln -sf /dev/null /etc/udev/rules.d/60-rdma-persistent-naming.rules"


def check(links):
    taken = {it.name for it in device.devices()}
    found = []
    for link in links:
        if not GENERATED.fullmatch(link.name):
            continue
        name = next(f"hroce{number}" for number in range(len(taken) + 1) if f"hroce{number}" not in taken)
        taken.add(name)
        found.append(warning("renamed", link.name, f"The link is called {link.name}: udev has renamed it.",
                             "60-rdma-persistent-naming.rules of rdma-core renames links as they are made; programs "
                             "that name the old device fail.",
                             command("rdma", "dev", "set", link.name, "name", name) + keep()))
    return found
