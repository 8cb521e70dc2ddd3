# SPDX-License-Identifier: GPL-2.0
"""Which workloads there are, at which sizes, for which systems and topologies."""

import dataclasses

from workloads import AllReduce, Bandwidth, BusyLatency, Copy, Latency, Load, PingPong, Stream

RDMA = ("hroce", "rxe")
WIRES = ("veth", "guests")
EVERYWHERE = ("local", "veth", "guests")
ONE_GUEST = ("local", "veth")

SIZES = [64, 4096, 65536, 1 << 20]
ALL_SIZES = [8, 64, 512, 4096, 16384, 65536, 1 << 18, 1 << 20, 8 << 20]
LATENCY_SIZES = [8, 4096]
ALL_LATENCY_SIZES = [8, 64, 512, 4096, 16384, 65536, 1 << 20]
FEWEST_ITERATIONS = 200
BYTES_ONE_WAY = 8 << 20
# perftest polls away whole ticks of the timer if both ends have but one CPU.
ONE_CPU_ITERATIONS = 300
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
        self.allreduce = args.programs + "/allreduce"
        self.entries = []
        self.add_bandwidth()
        if args.cpus > 1:
            self.add_latency("write_lat", "send_lat", args.iterations, False)
            self.add_fairness()
            self.add_cpus()
        self.add_latency("write_lat_1cpu", None, ONE_CPU_ITERATIONS, True)
        self.add_rates()
        self.add_queue_pairs()
        self.add_allreduce()

    def add(self, workload, size, system, topologies, job, long=False):
        """long: unless all is wanted, once is enough."""
        if (not self.args.workloads or workload in self.args.workloads) and system in self.args.systems:
            once = long and not self.args.full and not self.args.workloads
            self.entries.append(Entry(workload, size, system, topologies, job, 1 if once else self.args.rounds))

    def sizes(self, quick, full):
        return self.args.sizes or (full if self.args.full else quick)

    def add_bandwidth(self):
        seconds = self.args.seconds
        for size in self.sizes(SIZES, ALL_SIZES):
            for system in RDMA:
                self.add("write", size, system, EVERYWHERE, Bandwidth("ib_write_bw", size, seconds))
            if size >= 65536:
                self.add("write", size, "hroce", ("veth_elided",), Bandwidth("ib_write_bw", size, seconds))
            if size <= LONGEST_STREAM:
                self.add("write", size, "tcp", EVERYWHERE, Stream(size, seconds))
            self.add("write", size, "memcpy", ("local",), Copy(self.plain, size, 500))
        for size in self.sizes(SIZES[2:], ALL_SIZES):
            for system in RDMA:
                self.add("read", size, system, EVERYWHERE, Bandwidth("ib_read_bw", size, seconds))
        for size in self.sizes([65536], ALL_SIZES):
            for system in RDMA:
                self.add("send", size, system, EVERYWHERE, Bandwidth("ib_send_bw", size, seconds))
        for system in RDMA:
            self.add("write_bidir", 65536, system, WIRES, Bandwidth("ib_write_bw", 65536, seconds, ["-b"]))
        self.add("write_bidir", 65536, "tcp", WIRES, Stream(65536, seconds, ["--bidir"]))

    def add_latency(self, write, send, most_iterations, one_cpu):
        topologies = ("veth",) if one_cpu else EVERYWHERE
        for size in [8] if one_cpu else self.sizes(LATENCY_SIZES, ALL_LATENCY_SIZES):
            iterations = max(FEWEST_ITERATIONS, min(most_iterations, BYTES_ONE_WAY // size))
            for system in RDMA:
                self.add(write, size, system, topologies, Latency("ib_write_lat", size, iterations, one_cpu))
                if send and (size == 8 or self.args.sizes or self.args.full):
                    self.add(send, size, system, topologies, Latency("ib_send_lat", size, iterations))
            self.add(write, size, "tcp", topologies, PingPong(self.plain, "tcp", size, iterations, one_cpu))
            if size <= LONGEST_DATAGRAM:
                self.add(write, size, "udp", topologies, PingPong(self.plain, "udp", size, iterations, one_cpu))

    def add_fairness(self):
        for system in RDMA:
            self.add("write_lat_busy", 8, system, ("veth",),
                     BusyLatency(self.load, "ib_write_lat", 8, self.args.iterations))

    def add_rates(self):
        for name, qps in (("send_rate", 1), ("send_rate_q16", 16)):
            for system in RDMA:
                self.add(name, 64, system, EVERYWHERE,
                         Load(self.load, "send", 64, self.args.seconds, qps=qps, depth=8 * LIST,
                              options=["-l", str(LIST)], metrics=("msgps",)))

    def add_cpus(self):
        for name, cpus in (("cpus_1", 1), ("cpus_2", 2)):
            pinned = [word for cpu in range(cpus) for word in ("-c", str(cpu))]
            for system in RDMA:
                self.add(name, 65536, system, ONE_GUEST,
                         Load(self.load, "write", 65536, self.args.seconds, qps=cpus, depth=32, options=pinned))

    def add_queue_pairs(self):
        for qps in (1, 64, 1024, 8192):
            for size in [64, 65536] if self.args.full else [65536]:
                for system in RDMA:
                    self.add(f"qps_{qps}", size, system, ("veth",),
                             Load(self.load, "write", size, max(self.args.seconds, 2), qps=qps,
                                  depth=max(1, min(16, 1024 // qps)), options=["-M"] if qps == 8192 else [],
                                  metrics=("MBps", "msgps", "connect_ms", "qp_bytes")), long=qps > 1024)

        # One connection, for the CPU time that it costs.
        self.add("qps_1", 65536, "tcp", ("veth",), Stream(65536, max(self.args.seconds, 2), cost=True))

    def add_allreduce(self):
        for system in (*RDMA, "tcp"):
            self.add("allreduce", 64 << 20, system, ONE_GUEST, AllReduce(self.allreduce, 64 << 20), long=True)
