# SPDX-License-Identifier: GPL-2.0
"""Which workloads there are, at which sizes, for which systems and topologies."""

import dataclasses

from paths import IMPAIRED, MIXED, WIRE_MTUS
from workloads import (AllReduce, Bandwidth, BusyLatency, Clock, Copy, Deferred, Flood, Latency, Load, Objects, PingPong,
                       Pong, Stream)

RDMA = ("hroce", "rxe")
WIRES = ("veth", "guests")
EVERYWHERE = ("local", "veth", "guests")
ONE_GUEST = ("local", "veth")
SWITCHED = tuple(f"wire_{mtu}" for mtu in WIRE_MTUS)

# Messages of one queue pair, as perftest and iperf3 have them.
ONE_BUFFER = ("-b",)

SIZES = [4096, 65536, 1 << 20]
ALL_SIZES = [8, 64, 512, 4096, 16384, 65536, 1 << 18, 1 << 20, 8 << 20]
ALL_LATENCY_SIZES = [8, 64, 512, 4096, 16384, 65536, 1 << 20]
FEWEST_ITERATIONS = 200
BYTES_ONE_WAY = 8 << 20
# Enough for a second of hroce, and not for long of rdma_rxe, which does not end with its time where much is lost.
SWITCHED_BYTES = 256 << 20
BUSY_ITERATIONS = 1000
# perftest polls away whole ticks of the timer if both ends have but one CPU.
ONE_CPU_ITERATIONS = 200
# iperf3 takes no more.
LONGEST_STREAM = 1 << 20
LONGEST_DATAGRAM = 8192
LIST = 16


@dataclasses.dataclass
class Entry:
    """A workload at one size, for one system, and in how many rounds at most."""

    workload: str
    size: int
    system: str
    topologies: tuple
    job: object
    rounds: int


class Catalog:
    """All entries that fit the arguments of measure.py."""

    def __init__(self, args):
        self.args = args
        self.load = args.programs + "/load"
        self.plain = args.programs + "/plain"
        self.pong = args.programs + "/pong"
        self.allreduce = args.programs + "/allreduce"
        self.objects = args.programs + "/objects"
        self.clock = Clock(self.plain)
        self.entries = []
        self.add_bandwidth()
        self.add_switched()
        self.add_impaired()
        if args.cpus > 1:
            self.add_latency()
            self.add_latency_among_others()
            self.add_latency_between_guests()
            self.add_cpus()
        self.add_latency_on_one_cpu()
        self.add_rates()
        self.add_queue_pairs()
        self.add_objects()
        self.add_allreduce()

    def add(self, workload, size, system, topologies, job, long=False):
        """long: unless all is wanted, once is enough."""
        if (not self.args.workloads or workload in self.args.workloads) and system in self.args.systems:
            once = long and not self.args.full and not self.args.workloads
            self.entries.append(Entry(workload, size, system, topologies, job, 1 if once else self.args.rounds))

    def sizes(self, quick, full):
        return self.args.sizes or (full if self.args.full else quick)

    def places(self, quick, full=EVERYWHERE):
        """Where to measure: in fewer topologies, unless something is asked for."""
        args = self.args
        return full if args.full or args.topologies or args.workloads or args.sizes else quick

    def add_bandwidth(self):
        seconds = self.args.seconds
        for size in self.sizes(SIZES, ALL_SIZES):
            places = self.places(ONE_GUEST) if size < 65536 else EVERYWHERE
            for system in RDMA:
                self.add("write", size, system, places, Bandwidth("ib_write_bw", size, seconds))
            if size >= 65536:
                self.add("write", size, "hroce", ("veth_elided",), Bandwidth("ib_write_bw", size, seconds))
            if size <= LONGEST_STREAM:
                self.add("write", size, "tcp", places, Stream(size, seconds))
            self.add("write", size, "memcpy", ("local",), Copy(self.plain, size, 500))
        for size in self.sizes([65536], ALL_SIZES):
            for system in RDMA:
                self.add("read", size, system, EVERYWHERE, Bandwidth("ib_read_bw", size, seconds))
                self.add("send", size, system, EVERYWHERE, Bandwidth("ib_send_bw", size, seconds))
        for system in RDMA:
            self.add("write_bidir", 65536, system, self.places(("veth",), WIRES),
                     Bandwidth("ib_write_bw", 65536, seconds, ["-b"]))
        self.add("write_bidir", 65536, "tcp", self.places(("veth",), WIRES), Stream(65536, seconds, ["--bidir"]))

    def add_switched(self):
        """Where each packet is a frame of its own."""
        seconds = self.args.seconds
        places = SWITCHED if self.args.cpus == 1 else self.places((), SWITCHED)
        for size in self.sizes([1 << 20], SIZES):
            for system in RDMA:
                for operation in ("write", "read", "send"):
                    self.add(operation, size, system, places,
                             Load(self.load, operation, size, seconds, options=ONE_BUFFER, metrics=("MBps",)))
                self.add("write_bidir", size, system, places,
                         Bandwidth("ib_write_bw", size, seconds, ["-b"], SWITCHED_BYTES // size))
                self.add("qps_64", size, system, places, self.many(64, size))
            self.add("write", size, "tcp", places, Stream(size, seconds))
            self.add("write_bidir", size, "tcp", places, Stream(size, seconds, ["--bidir"]))
            if size == 1 << 20:
                self.add("write", size, "udp", places, Flood(self.plain, seconds))

    def add_impaired(self):
        """The same, where packets are lost or late: only where that is asked for."""
        places = tuple(IMPAIRED) if self.args.full or self.args.topologies else ()
        for system in (*RDMA, *sorted(MIXED)):
            for operation in ("write", "read", "send"):
                self.add(operation, 1 << 20, system, places,
                         Load(self.load, operation, 1 << 20, self.args.seconds, options=ONE_BUFFER,
                              metrics=("MBps",)))
        self.add("write", 1 << 20, "tcp", places, Stream(1 << 20, self.args.seconds))
        self.add("write", 1 << 20, "bbr", places, Stream(1 << 20, self.args.seconds, ["-C", "bbr"]))
        if self.args.cpus > 1:
            for system in RDMA:
                self.add("write_lat", 4096, system, places,
                         Latency(self.clock, "ib_write_lat", 4096, self.args.iterations))

    def many(self, qps, size):
        """Writes on so many queue pairs at once."""
        return Load(self.load, "write", size, max(self.args.seconds, 2), qps=qps, depth=max(1, min(16, 1024 // qps)),
                    options=["-M"] if qps == 8192 else [], metrics=("MBps", "msgps", "connect_ms", "qp_bytes"))

    def add_latency(self):
        for size in self.sizes([8, 4096], ALL_LATENCY_SIZES):
            places = EVERYWHERE if size == 8 else self.places(("veth",))
            iterations = max(FEWEST_ITERATIONS, min(self.args.iterations, BYTES_ONE_WAY // size))
            for system in RDMA:
                self.add("write_lat", size, system, places, Latency(self.clock, "ib_write_lat", size, iterations))
                self.add("send_lat", size, system, self.places(("veth",) if size == 8 else ()),
                         Latency(self.clock, "ib_send_lat", size, iterations))
            self.add("write_lat", size, "tcp", places, PingPong(self.plain, "tcp", size, iterations))
            if size <= LONGEST_DATAGRAM:
                self.add("write_lat", size, "udp", places, PingPong(self.plain, "udp", size, iterations))

    def add_latency_between_guests(self):
        """Where each message may wait for an interrupt; the interrupts deferred; and processes that poll the netdevs."""
        iterations = self.args.iterations
        ends = {protocol: PingPong(self.plain, protocol, 8, iterations) for protocol in ("tcp", "udp")}
        polling_ends = {protocol: PingPong(self.plain, protocol, 8, iterations, busy=True) for protocol in ends}
        sends, pong = Latency(self.clock, "ib_send_lat", 8, iterations), Pong(self.pong, 8, iterations)
        for protocol in ends:
            self.add("pong_lat", 8, protocol, ("guests",), ends[protocol])
            self.add("deferred_lat", 8, protocol, ("guests",), Deferred(ends[protocol], False))
            self.add("busy_lat", 8, protocol, ("guests",), Deferred(polling_ends[protocol], True))
        self.add("pong_lat", 8, "hroce", ("guests",), pong)
        self.add("deferred_lat", 8, "hroce", ("guests",), Deferred(pong, False))
        self.add("busy_lat", 8, "hroce", ("guests",), Deferred(pong, True))
        self.add("busy_send_lat", 8, "hroce", ("guests",), Deferred(sends, True))

    def add_latency_on_one_cpu(self):
        for system in RDMA:
            self.add("write_lat_1cpu", 8, system, ("veth",),
                     Latency(self.clock, "ib_write_lat", 8, ONE_CPU_ITERATIONS, one_cpu=True))
        for protocol in ("tcp", "udp"):
            self.add("write_lat_1cpu", 8, protocol, ("veth",),
                     PingPong(self.plain, protocol, 8, ONE_CPU_ITERATIONS, True))

    def add_latency_among_others(self):
        for system in RDMA:
            self.add("read_lat", 8, system, ("veth",), Latency(self.clock, "ib_read_lat", 8, self.args.iterations))
            for operation in ("write", "read"):
                self.add(operation + "_lat_busy", 8, system, ("veth",),
                         BusyLatency(self.load, self.clock, f"ib_{operation}_lat", 8, BUSY_ITERATIONS))

    def add_rates(self):
        for name, qps, places in (("send_rate", 1, EVERYWHERE), ("send_rate_q16", 16, self.places(("veth",)))):
            for system in RDMA:
                self.add(name, 64, system, places,
                         Load(self.load, "send", 64, self.args.seconds, qps=qps, depth=8 * LIST,
                              options=["-l", str(LIST)], metrics=("msgps",)))

    def add_cpus(self):
        for name, cpus in (("cpus_1", 1), ("cpus_2", 2)):
            pinned = [word for cpu in range(cpus) for word in ("-c", str(cpu))]
            for system in RDMA:
                self.add(name, 65536, system, self.places(("veth",), ONE_GUEST),
                         Load(self.load, "write", 65536, self.args.seconds, qps=cpus, depth=32, options=pinned))

    def add_queue_pairs(self):
        for qps in (1, 64, 1024, 8192):
            for size in [64, 65536] if self.args.full else [65536]:
                for system in RDMA:
                    self.add(f"qps_{qps}", size, system, ("veth",), self.many(qps, size), long=qps > 1024)

        # One connection, for the CPU time that it costs.
        self.add("qps_1", 65536, "tcp", ("veth",), Stream(65536, max(self.args.seconds, 2), cost=True))

    def add_objects(self):
        for name, kind, sizes in (("regions", "mr", (4096, 1 << 20)), ("pairs", "qp", (4096,))):
            for size in sizes:
                for system in RDMA:
                    self.add(name, size, system, ("local",), Objects(self.objects, kind, size, self.args.seconds))

    def add_allreduce(self):
        for system in (*RDMA, "tcp"):
            self.add("allreduce", 64 << 20, system, self.places(("veth",), ONE_GUEST), AllReduce(self.allreduce, 64 << 20), long=True)
