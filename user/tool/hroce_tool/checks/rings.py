# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Receive rings of the card."""
from ..finding import advice, command

ENOUGH = 1024


def check(links):
    found = []
    for link in links:
        for netdev in link.netdevs_below():
            rings = netdev.rings()
            if not rings:
                continue
            now, largest = rings
            if now < ENOUGH and largest >= 2 * now:
                found.append(advice("ring-small", netdev.name,
                                    f"The receive ring of {netdev.name} has {now} entries of {largest} possible.",
                                    "A burst of packets overruns it, and RoCEv2 repeats what is lost.",
                                    command("ethtool", "-G", netdev.name, "rx", min(largest, 4 * ENOUGH))))
    return found
