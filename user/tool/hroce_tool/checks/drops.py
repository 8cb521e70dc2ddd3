# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Packets that this node drops, below the link: queues, rings, backlogs."""
import time

from .. import system
from ..finding import command, warning

# Counters since boot tell nothing about now, and cannot be reset: what grows in this time counts.
SECONDS = 0.5
MISSED = ("rx_missed_errors", "rx_fifo_errors")


def backlog_drops():
    """The second word of each CPU's line."""
    return sum(int(line.split()[1], 16) for line in system.read("/proc/net/softnet_stat", "").splitlines())


def qdisc_findings(netdev):
    """A queue of the network stack that has refused more than one packet in ten thousand."""
    found = []
    for qdisc in netdev.qdiscs():
        drops, packets = qdisc.get("drops", 0), qdisc.get("packets", 0)
        if not qdisc.get("root") or drops <= (drops + packets) / 10000:
            continue
        found.append(warning("qdisc-drops", netdev.name,
                             f"The queue {qdisc['kind']} of {netdev.name} has dropped {drops} packets of "
                             f"{drops + packets}.",
                             "RoCEv2 repeats what is lost, and UC and UD lose messages.",
                             command("tc", "qdisc", "replace", "dev", netdev.name, "root", "pfifo", "limit", 10000)))
    return found


def check(links):
    netdevs = {netdev.name: netdev for link in links for netdev in link.netdevs_below()}
    if not netdevs:
        return []

    def missed():
        return {name: sum(map(it.statistic, MISSED)) for name, it in netdevs.items()}

    missed_before, backlog_before = missed(), backlog_drops()
    time.sleep(SECONDS)
    missed_after, backlog = missed(), backlog_drops() - backlog_before
    found = []
    for name, netdev in netdevs.items():
        found += qdisc_findings(netdev)
        new = missed_after[name] - missed_before[name]
        if new:
            rings = netdev.rings()
            found.append(warning("card-drops", name,
                                 f"{name} has dropped {new} packets in {SECONDS} s: its ring is full.",
                                 "RoCEv2 repeats what is lost, and UC and UD lose messages.",
                                 command("ethtool", "-G", name, "rx", rings[1] if rings else "ENTRIES")))
    if backlog:
        path = "/proc/sys/net/core/netdev_max_backlog"
        found.append(warning("backlog-drops", "netdev_max_backlog",
                             f"CPUs have dropped {backlog} packets in {SECONDS} s: their backlog is full.",
                             "RoCEv2 repeats what is lost, and UC and UD lose messages.",
                             f"sysctl -w net.core.netdev_max_backlog={max(10000, 2 * system.read_int(path, 0))}"))
    return found
