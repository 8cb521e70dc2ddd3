# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Counters of links and queue pairs, and their growth per second."""
import time
from dataclasses import dataclass, field

from . import device, system


@dataclass
class Sample:
    """Counters by link, and by link and queue pair where the queue pair is bound to counters."""
    when: float
    links: dict
    queue_pairs: list
    bound: dict = field(default_factory=dict)


def queue_pairs():
    """With what the driver tells about them, see stats.rst."""
    found = []
    for entry in system.once_json("rdma", "-dd", "-j", "resource", "show", "qp") or []:
        if entry.get("type") not in ("GSI", "SMI"):
            found.append(entry)
    return found


def bound_counters():
    """Counters of `rdma statistic qp bind`: (link, queue pair): values."""
    found = {}
    for entry in system.once_json("rdma", "-j", "statistic", "qp", "show") or []:
        values = {name: value for name, value in entry.items() if isinstance(value, int)
                  and name not in ("ifindex", "port", "cntn", "pid")}
        numbers = entry.get("lqpn") or []
        for number in numbers if isinstance(numbers, list) else [numbers]:
            found[(entry.get("ifname"), number)] = values
    return found


def take():
    system.forget()
    links = {link.name: link.counters() for link in device.links()}
    return Sample(time.monotonic(), links, queue_pairs(), bound_counters())


def growth(before, after, seconds):
    """Per second; what is new counts from zero, what has shrunk was made anew."""
    return {name: max(0, value - before.get(name, 0)) / seconds for name, value in after.items()}


# What grows when a link waits: counter, and who waits for what.
WAITS = (
    ("rnr_rcvd", "waits for receive requests of the peer"),
    ("rnr_sent", "peers wait for receive requests of this node"),
    ("memory_faults", "waits for memory (on-demand paging)"),
    ("timeouts", "waits for answers that do not come"),
    ("nak_seq_rcvd", "repeats what is lost on the way to the peer"),
    ("nak_seq_sent", "peers repeat what is lost on the way here"),
    ("tx_refused", "waits for a queue of this host (qdisc, backlog)"),
    ("rx_drop_icrc", "drops damaged packets"),
    ("cq_overruns", "a completion queue is full"),
)


DRIVER = "drv_"


def transport(entry):
    """State of a queue pair's requester and responder; empty if it has none, or the kernel does not tell."""
    return {name.removeprefix(DRIVER): value for name, value in entry.items() if name.startswith(DRIVER)}


def waits(rates):
    return [text for name, text in WAITS if rates.get(name, 0) > 0]


def report(before, after):
    """What `hroce top` shows, also as JSON."""
    seconds = max(after.when - before.when, 1e-9)
    found = {"seconds": round(seconds, 3), "links": [], "queue_pairs": []}
    for name, counters in sorted(after.links.items()):
        rates = growth(before.links.get(name, counters), counters, seconds)
        found["links"].append({"name": name, "rates": rates, "waits": waits(rates)})
    for entry in after.queue_pairs:
        if entry.get("ifname") not in after.links:
            continue
        key = (entry["ifname"], entry["lqpn"])
        values = after.bound.get(key)
        rates = growth(before.bound.get(key, values), values, seconds) if values else {}
        found["queue_pairs"].append({
            "link": entry["ifname"], "number": entry["lqpn"], "peer": entry.get("rqpn"), "type": entry.get("type"),
            "state": entry.get("state"), "pid": entry.get("pid"), "program": entry.get("comm"), "rates": rates,
            "transport": transport(entry), "waits": waits(rates)})
    return found
