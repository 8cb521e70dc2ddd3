# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Packets that this node drops, below the link: queues, rings, backlogs."""
import time

from .. import system
from ..finding import command, warning
from ..netdev import SHAPERS

# Counters since boot tell nothing about now, and cannot be reset: what grows in this time counts.
SECONDS = 0.5
# Queues made of others.
MANY = ("mq", "mqprio", "taprio", "multiq", "prio", "ets", "drr", "qfq")
MISSED = ("rx_missed_errors", "rx_fifo_errors")


def backlog_drops():
    """The second word of each CPU's line."""
    return sum(int(line.split()[1], 16) for line in system.read("/proc/net/softnet_stat", "").splitlines())


def queues():
    """{netdev: (kind, packets, drops)} of the queues that netdevs send through, now."""
    shown = system.parsed(system.run("tc", "-j", "-s", "qdisc", "show")) or []
    return {entry["dev"]: (entry["kind"], entry.get("packets", 0), entry.get("drops", 0))
            for entry in shown if entry.get("root") and "dev" in entry}


def qdisc_findings(name, before, after):
    """A queue of the network stack that refuses more than one packet in ten thousand."""
    if not before or not after or before[0] != after[0]:
        return []
    kind, sent, drops = after[0], after[1] - before[1], after[2] - before[2]
    if drops <= 0 or drops <= (sent + drops) / 10000:
        return []
    # Another queue in its place would undo what someone has made, or what spreads packets over the queues of the card.
    repair = (command("tc", "-s", "-d", "qdisc", "show", "dev", name) if kind in SHAPERS + MANY else
              command("tc", "qdisc", "replace", "dev", name, "root", "pfifo", "limit", 10000))
    return [warning("qdisc-drops", name,
                    f"The queue {kind} of {name} has dropped {drops} packets of {sent + drops} in {SECONDS} s.",
                    "RoCEv2 repeats what is lost, and UC and UD lose messages.", repair)]


def check(links):
    netdevs = {netdev.name: netdev for link in links for netdev in link.netdevs_below()}
    if not netdevs:
        return []

    def missed():
        return {name: sum(map(it.statistic, MISSED)) for name, it in netdevs.items()}

    missed_before, backlog_before, queues_before = missed(), backlog_drops(), queues()
    time.sleep(SECONDS)
    missed_after, backlog, queues_after = missed(), backlog_drops() - backlog_before, queues()
    found = []
    for name, netdev in netdevs.items():
        found += qdisc_findings(name, queues_before.get(name), queues_after.get(name))
        new = missed_after[name] - missed_before[name]
        # A driver that begins anew counts from 0.
        if new > 0:
            rings = netdev.rings()
            found.append(warning("card-drops", name,
                                 f"{name} has dropped {new} packets in {SECONDS} s: its ring is full.",
                                 "RoCEv2 repeats what is lost, and UC and UD lose messages.",
                                 command("ethtool", "-G", name, "rx", rings[1] if rings else "ENTRIES")))
    if backlog > 0:
        path = "/proc/sys/net/core/netdev_max_backlog"
        found.append(warning("backlog-drops", "netdev_max_backlog",
                             f"CPUs have dropped {backlog} packets in {SECONDS} s: their backlog is full.",
                             "RoCEv2 repeats what is lost, and UC and UD lose messages.",
                             f"sysctl -w net.core.netdev_max_backlog={max(10000, 2 * system.read_int(path, 0))}"))
    return found
