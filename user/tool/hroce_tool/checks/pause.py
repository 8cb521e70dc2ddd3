# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Flow control of the card."""
from ..finding import command, warning


def check(links):
    found = []
    for link in links:
        for netdev in link.netdevs_below():
            pause = netdev.pause()
            if not pause or pause["rx"] == pause["tx"]:
                continue
            on, off = ("receives", "sends") if pause["rx"] else ("sends", "receives")
            found.append(warning("pause-one-way", netdev.name,
                                 f"{netdev.name} {on} pause frames and {off} none.",
                                 "One end of the cable overruns the other, and RoCEv2 repeats what is lost.",
                                 command("ethtool", "-A", netdev.name, *"autoneg off rx on tx on".split())))
    return found
