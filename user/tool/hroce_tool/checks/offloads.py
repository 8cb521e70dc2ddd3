# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Offloads that hroce sends super-packets with."""
from .. import system
from ..finding import command, quoted, warning

DEBUGFS = "/sys/kernel/debug/hroce"
CHECKSUMS = ("tx-checksum-ip-generic", "tx-checksum-ipv4", "tx-checksum-ipv6")
SWITCHES = ("gso", "local", "hand_over", "elide_icrc")


def check_netdev(link, netdev):
    features = netdev.features()
    checksums = [features[name] for name in CHECKSUMS if name in features]
    missing = {}
    if features.get("tx-scatter-gather") is False:
        missing["scatter-gather"] = "sg on"
    if checksums and not any(checksums) and not features.get("tx-udp-segmentation"):
        missing["transmit checksums"] = "tx on"
    if not missing:
        return []
    return [warning("offloads", netdev.name, f"{netdev.name} has {' and '.join(missing)} off.",
                    f"{link.name} copies what it sends, and sends each packet as a frame of its own.",
                    command("ethtool", "-K", netdev.name, *" ".join(missing.values()).split()))]


def check(links):
    found = []
    for link in links:
        if link.mode != "software":
            continue
        for netdev in link.netdevs_below():
            found += check_netdev(link, netdev)
        for name in SWITCHES:
            path = f"{DEBUGFS}/{link.name}/{name}"
            if system.read(path) == "N":
                found.append(warning("switch-off", link.name, f"The switch {name} of {link.name} is off.",
                                     "It serves tests; sending takes longer.", f"echo Y >{quoted(path)}"))
    return found
