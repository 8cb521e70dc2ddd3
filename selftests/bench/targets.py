# SPDX-License-Identifier: GPL-2.0
"""What hroce is to reach, as ratios within one run."""

import dataclasses

from paths import SLOW_MBPS

INSTRUCTIONS = "insn_other"


@dataclasses.dataclass
class Target:
    """A bound for one figure of hroce, or for its ratio to another figure.

    figure: setting, topology, workload, size, metric of hroce
    bound, at_least: the bound, and its direction
    against: "" for the figure itself, else the system that it is divided by
    other: what is different in the other figure, if anything: topology, workload, metric
    system: whose figure it is
    """

    what: str
    figure: tuple
    bound: float
    at_least: bool
    against: str = ""
    other: dict = dataclasses.field(default_factory=dict)
    system: str = "hroce"

    def measured(self, results):
        """The ratio, or figure, that came out; None if it was not measured."""
        value = results.value(*self.figure, self.system)
        if value is None or not self.against:
            return value
        names = ("setting", "topology", "workload", "size", "metric")
        key = [self.other.get(name, mine) for name, mine in zip(names, self.figure)]
        divisor = results.value(*key, self.against)
        return value / divisor if divisor else None

    def met(self, value):
        return value >= self.bound if self.at_least else value <= self.bound


def at_least(what, figure, bound, against="", **other):
    return Target(what, figure, bound, True, against, other)


def at_most(what, figure, bound, against="", **other):
    return Target(what, figure, bound, False, against, other)


def against_peers():
    mb, kb64 = 1 << 20, 65536
    veth, local, guests = (("qemu", place, "write", kb64, "MBps") for place in ("veth", "local", "guests"))
    latency = ("qemu", "veth", "write_lat", 8, "us_typ")
    busy = ("qemu", "guests", "busy_lat", 8, "us_typ")
    return [
        at_least("1 MB writes, two namespaces, ICRC on: rdma_rxe", ("uml", "veth", "write", mb, "MBps"), 12, "rxe"),
        at_least("1 MB writes, two namespaces, ICRC on: TCP", ("uml", "veth", "write", mb, "MBps"), 5, "tcp"),
        at_least("1 MB writes, one host: rdma_rxe", ("uml", "local", "write", mb, "MBps"), 25, "rxe"),
        at_least("1 MB writes, one host: memcpy", ("uml", "local", "write", mb, "MBps"), 0.5, "memcpy"),
        at_most("kernel instructions per 4 KB packet but copy, CRC, zeroing: rdma_rxe",
                ("icount", "veth", "write", kb64, INSTRUCTIONS), 1 / 8, "rxe"),
        at_most("kernel instructions per 64-byte message: rdma_rxe", ("icount", "veth", "write", 64, "insn_total"),
                1 / 10, "rxe"),
        at_most("bytes zeroed per byte of payload", ("icount", "veth", "write", kb64, "zeroed"), 0.05),
        # None; but the guest's timer tick is counted, too.
        at_most("work items and wake-ups per polled message", ("icount", "veth", "write", 64, "wakeups"), 0.01),
        at_least("64 KB writes, one host: rdma_rxe", local, 20, "rxe"),
        at_least("64 KB writes, one host: TCP", local, 8, "tcp"),
        at_least("64 KB writes, two namespaces, ICRC on: rdma_rxe on one host", veth, 2, "rxe", topology="local"),
        at_least("64 KB writes, two guests: rdma_rxe", guests, 2, "rxe"),
        at_least("64 KB writes, two guests: TCP", guests, 1, "tcp"),
        at_most("8-byte write latency, typical: rdma_rxe", latency, 1 / 10, "rxe"),
        at_most("8-byte write latency, typical: polled UDP", latency, 0.7, "udp"),
        at_most("8-byte write latency, typical: polled TCP", latency, 0.45, "tcp"),
        at_most("8 bytes between two guests, processes that poll the netdevs: polled UDP", busy, 1, "udp"),
        at_most("8 bytes between two guests, processes that poll the netdevs: polled TCP", busy, 0.75, "tcp"),
        at_most("8-byte write latency, 99 %: typical", (*latency[:4], "us_p99"), 3, "hroce", metric="us_typ"),
        # Of a READ only one side polls: with the owner of the others there is one busy process for each CPU.
        at_most("8-byte read latency among 64 busy queue pairs, 99 %: when idle",
                ("qemu", "veth", "read_lat_busy", 8, "us_p99"), 4, "hroce", workload="read_lat"),
        at_least("64-byte sends in lists, one queue pair: rdma_rxe", ("qemu", "veth", "send_rate", 64, "msgps"), 15,
                 "rxe"),
        at_least("2 busy queue pairs on 2 CPUs: 1 on 1", ("qemu", "veth", "cpus_2", kb64, "MBps"), 1.8, "hroce",
                 workload="cpus_1"),
        at_most("8192 queue pairs: kernel bytes for each, less its rings",
                ("qemu", "veth", "qps_8192", kb64, "qp_bytes"), 4096),
    ]


def against_itself(setting):
    kb64 = 65536
    places = ("local", "veth") if setting == "uml" else ("local", "veth", "guests")
    return [
        *(at_least(f"64 KB reads, {place}: writes", (setting, place, "read", kb64, "MBps"), 0.9, "hroce",
                   workload="write") for place in places),
        at_most("8-byte write latency, both ends polling on one CPU, us",
                (setting, "veth", "write_lat_1cpu", 8, "us_typ"), 100),
        at_least("1024 queue pairs, 64 KB writes: 1 queue pair", (setting, "veth", "qps_1024", kb64, "MBps"), 0.8,
                 "hroce", workload="qps_1"),
    ]


def on_a_wire():
    """Each packet a frame of its own."""
    targets = []
    for topology, tcp, rxe in (("wire_9000", 3.5, 15), ("wire_4200", 3.5, 15), ("wire_1500", 1.5, 5)):
        for workload, name, peer in (("write", "writes", "write"), ("read", "reads", "write"), ("send", "sends", "write"),
                                     ("write_bidir", "writes both ways", "write_bidir"),
                                     ("qps_64", "writes, 64 queue pairs", "write")):
            figure = ("uml", topology, workload, 1 << 20, "MBps")
            what = f"1 MB {name}, single packets, MTU {topology.split('_')[1]}: "
            targets += [at_least(what + "TCP", figure, tcp, "tcp", workload=peer),
                        at_least(what + "rdma_rxe", figure, rxe, "rxe")]
    return targets


def under_loss():
    """Where packets are lost or late, against the same path without that."""
    targets = []
    cases = [(f"loss_{percent}{delay}", lossless, bound) for delay, lossless, bounds in (
        ("", "loss_0", (0.98, 0.9, 0.7)), ("_1ms", "delay_1ms", (0.97, 0.9, 0.7)),
        ("_20ms", "delay_20ms", (0.95, 0.8, 0.5))) for percent, bound in zip(("0.1", "1", "5"), bounds)]
    cases += [("bursts", "loss_0", 0.9), ("late", "loss_0", 0.9)]
    cases += [(f"{topology}_link", f"{lossless}_link", bound) for topology, lossless, bound in cases]
    for topology, lossless, bound in cases:
        for workload in ("write", "read", "send"):
            # Of a READ's packets, those of the answer are as long.
            back = "_back" if workload == "read" and topology.endswith("_link") else ""
            figure = ("uml", topology + back, workload, 1 << 20, "MBps")
            what = f"1 MB {workload}s, {topology}{back}: "
            targets.append(at_least(what + lossless, figure, bound, "hroce", topology=lossless + back))
            if not back:
                targets.append(at_least(what + "TCP", figure, 1, "tcp", workload="write"))
            if topology == "loss_1":
                targets.append(at_least(what + "rdma_rxe", figure, 25, "rxe"))
    figure = ("uml", "loss_1", "write", 1 << 20, "MBps")
    targets += [Target("1 MB writes to rdma_rxe, loss_1: loss_0", figure, 0.5, True, "to_rxe", {"topology": "loss_0"}, "to_rxe"),
                Target("1 MB writes to rdma_rxe, loss_1: rdma_rxe to itself", figure, 3, True, "rxe", system="to_rxe"),
                # perftest has half of that.
                at_most("half of 4 KB to and fro, loss_1, 99.9 %, us", ("qemu", "loss_1", "write_lat", 4096, "us_p999"), 2500)]
    return targets


def to_a_slow_receiver():
    """A receiver that takes less than the sender sends: its speed, and what is sent in vain."""
    targets = []
    for topology, workload in (("slow", "write"), ("slow_back", "read"), ("slow", "send")):
        figure = ("uml", topology, workload, 1 << 20)
        what = f"1 MB {workload}s, {topology}: "
        targets += [at_least(what + "MB/s", (*figure, "MBps"), 0.9 * SLOW_MBPS),
                    at_most(what + "per cent resent", (*figure, "resent_percent"), 2)]
    return targets


TARGETS = [*against_peers(), *on_a_wire(), *under_loss(), *to_a_slow_receiver(), *against_itself("uml"), *against_itself("qemu")]
