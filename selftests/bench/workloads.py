# SPDX-License-Identifier: GPL-2.0
"""What is measured: each class runs one kind of program and returns its metrics."""

import json
import re

from cputime import CpuTime
from host import Failed, last_line, wait_for
from paths import DEBUGFS

# What programs need beside the time that is measured.
PATIENCE = 30
RANKS = 8


class Trial:
    """One attempt: the path that it takes, and a port of its own."""

    port = 18600

    def __init__(self, path):
        Trial.port += RANKS
        self.path = path
        self.port = Trial.port
        self.wire_before = 0

    def start(self, words, udp=False):
        server = self.path.server
        server.host.start(words, server.netns, self.port, udp)

    def run(self, words, patience=PATIENCE):
        """Run the client's program. Return what it prints."""
        client = self.path.client
        self.wire_before = self.path.wire_bytes()
        return client.host.run(words, client.netns, patience)

    def payload(self):
        """Bytes that both ends of hroce have sent, and received, since their links were made; None for others."""
        ends = self.path.ends()
        if not all((end.device or "").startswith("hroce") for end in ends):
            return None
        return [sum(end.counter(name) for end in ends) for name in ("tx_bytes", "rx_bytes")]

    def hosts(self):
        return {id(end.host) for end in self.path.ends()}

    def check_wire(self, nbytes):
        """What is said to have crossed the wire did."""
        if self.path.wire and self.path.wire_bytes() - self.wire_before < nbytes:
            raise Failed("bytes did not cross the wire")

    def end(self):
        for end in self.path.ends():
            end.host.finish()


def cost_per_kb(nanoseconds_per_byte):
    """CPU time, and that of the kernel, for 1024 bytes."""
    busy, kernel = nanoseconds_per_byte
    return {"cpu_ns_per_kb": busy * 1024, "kernel_ns_per_kb": kernel * 1024}


def words_to_metrics(output):
    """The numbers in "name=value name=value", the last line of our own programs."""
    return {name: float(value) for name, value in re.findall(r"(\w+)=([-+.\w]+)", last_line(output))}


def perftest_row(output):
    """The numbers of the only line of results."""
    rows = re.findall(r"^ *\d+ +\d+ +[-\d.inf].*$", output, re.MULTILINE)
    if len(rows) != 1:
        raise Failed("no result: " + last_line(output))
    return [float(word) for word in rows[0].split()]


class Bandwidth:
    """ib_write_bw and its like, for some time or, where long messages are slow, for a number of them."""

    def __init__(self, tool, size, seconds, options=(), iterations=None):
        self.tool = tool
        self.size = size
        self.seconds = seconds
        self.iterations = iterations
        self.options = ["-n", str(iterations)] if iterations else ["-D", str(seconds)]
        self.options += options
        if size >= 1 << 20:
            # perftest fills the queue before it first looks for completions: keep that short against the duration.
            self.options += ["-t", "16"]
        if not iterations:
            self.options += ["-f", "0"]

    def run(self, trial):
        common = [self.tool, "-F", "-p", str(trial.port), "-m", str(trial.path.path_mtu()), "-s", str(self.size),
                  "--report_gbits", *self.options]
        server, client = trial.path.server, trial.path.client
        trial.start(common + server.options())
        row = perftest_row(trial.run([*common, *client.options(), server.address], PATIENCE + self.seconds))
        # The rate has six digits behind the point, the bandwidth two.
        megabytes = row[4] * self.size
        trial.check_wire(self.iterations * self.size if self.iterations else 0.9 * megabytes * 1e6 * self.seconds)
        return {"MBps": megabytes}


class Clock:
    """How fast the counter of cycles runs that perftest reads, found out when it is first needed.

    perftest finds out too, but not where others want its CPU, and then prints inf.
    """

    MILLISECONDS = 200

    def __init__(self, plain):
        self.words = [plain, "clock", str(self.MILLISECONDS)]
        self.rates = {}

    def cycles_per_us(self, host):
        if id(host) not in self.rates:
            self.rates[id(host)] = words_to_metrics(host.run(self.words, None, PATIENCE))["cycles_per_us"]
        return self.rates[id(host)]


class Latency:
    """ib_write_lat and its like, which poll at both ends."""

    def __init__(self, clock, tool, size, iterations, one_cpu=False):
        self.clock = clock
        self.tool = tool
        self.size = size
        self.iterations = iterations
        self.one_cpu = one_cpu

    def run(self, trial):
        common = [self.tool, "-C", "-F", "-p", str(trial.port), "-m", str(trial.path.path_mtu()), "-s", str(self.size),
                  "-n", str(self.iterations)]
        server, client = trial.path.server, trial.path.client
        rate = self.clock.cycles_per_us(client.host)
        with OnlyCpu(client.host, self.one_cpu):
            trial.start(common + server.options())
            row = perftest_row(trial.run([*common, *client.options(), server.address]))
        trial.check_wire(self.iterations * self.size)
        return {"us_typ": row[4] / rate, "us_p99": row[7] / rate, "us_p999": row[8] / rate}


class BusyLatency(Latency):
    """The same, while many other queue pairs keep the link busy, whose owner sleeps for completions."""

    BUSY_QPS = 64
    BUSY_SECONDS = 1000

    def __init__(self, program, clock, tool, size, iterations):
        super().__init__(clock, tool, size, iterations)
        self.words = [program, "-e", "-o", "write", "-s", "65536", "-q", str(self.BUSY_QPS), "-t", "2",
                      "-D", str(self.BUSY_SECONDS)]

    def run(self, trial):
        server, client = trial.path.server, trial.path.client
        # As long as nothing else runs.
        self.clock.cycles_per_us(client.host)
        common = [*self.words, "-p", str(trial.port + 1)]
        server.host.start(common + server.options(), server.netns, trial.port + 1)
        before = trial.path.wire_bytes()
        client.host.start([*common, *client.options(), server.address], client.netns, None)
        if trial.path.wire and not wait_for(lambda: trial.path.wire_bytes() - before > self.BUSY_QPS * 65536):
            raise Failed("the link did not get busy")
        return super().run(trial)


class OnlyCpu:
    """Switch all CPUs but the first off for a while, if asked to."""

    SWITCH = "/sys/devices/system/cpu/cpu1/online"

    def __init__(self, host, wanted):
        self.host = host
        self.wanted = wanted and host.exists(self.SWITCH)

    def __enter__(self):
        if self.wanted:
            self.host.write(self.SWITCH, "0")

    def __exit__(self, *_):
        if self.wanted:
            self.host.write(self.SWITCH, "1")


class Deferral:
    """The netdevs defer their interrupts for a while; and processes that poll CQs of hroce poll the netdevs, or not."""

    # As Documentation/admin-guide.rst, "Latency", has it, in ns: if nobody polls, a message waits for so long. Longer for
    # those who poll: emulated CPUs that share two pause for milliseconds, and the less often a timer is set, the better.
    FLUSH_NS, FLUSH_POLLED_NS = 200_000, 20_000_000

    def __init__(self, path, busy):
        self.ends = path.ends()
        self.netdev = path.wire
        self.busy = busy

    def set(self, defer, flush_ns, busy):
        for end in self.ends:
            end.host.write(f"/sys/class/net/{self.netdev}/napi_defer_hard_irqs", str(defer))
            end.host.write(f"/sys/class/net/{self.netdev}/gro_flush_timeout", str(flush_ns))
            if (end.device or "").startswith("hroce"):
                end.host.write(f"{DEBUGFS}/{end.device}/busy_poll", "Y" if busy else "N")

    def __enter__(self):
        self.set(2, self.FLUSH_POLLED_NS if self.busy else self.FLUSH_NS, self.busy)

    def __exit__(self, *_):
        self.set(0, 0, False)


class Deferred:
    """Another workload while interrupts are deferred."""

    def __init__(self, job, busy):
        self.job = job
        self.busy = busy

    def run(self, trial):
        with Deferral(trial.path, self.busy):
            return self.job.run(trial)


class Load:
    """Our program load: lists of requests, many queue pairs, several CPUs."""

    def __init__(self, program, operation, size, seconds, *, qps=1, depth=16, options=(), metrics=("MBps", "msgps")):
        self.words = [program, "-o", operation, "-s", str(size), "-D", str(seconds), "-q", str(qps), "-t", str(depth),
                      *options]
        self.size = size
        self.seconds = seconds
        self.patience = PATIENCE + seconds + (120 if qps > 64 else 0)
        self.metrics = metrics

    def run(self, trial):
        common = [*self.words, "-p", str(trial.port)]
        server, client = trial.path.server, trial.path.client
        trial.start(common + server.options())
        before = trial.payload()
        values = words_to_metrics(trial.run([*common, *client.options(), server.address], self.patience))
        trial.check_wire(0.9 * values["MBps"] * 1e6 * self.seconds)
        result = {name: value for name, value in values.items() if name in self.metrics}
        if before and any(trial.path.impairment):
            sent, received = (now - then for now, then in zip(trial.payload(), before))
            result["resent_percent"] = 100 * (1 - received / sent)
        if len(trial.hosts()) == 1:
            cost = values["cpu_ns"], values["kernel_ns"]
            if "MBps" in self.metrics:
                result.update(cost_per_kb([nanoseconds / self.size for nanoseconds in cost]))
            else:
                result.update({"cpu_ns_per_msg": cost[0], "kernel_ns_per_msg": cost[1]})
        return result


class AllReduce:
    """Eight ranks, every other one at each end, so that each step crosses the wire if there is one."""

    def __init__(self, program, size):
        self.program = program
        self.size = size

    def run(self, trial):
        ends = (trial.path.client, trial.path.server)
        first_port = trial.port
        for rank in reversed(range(RANKS)):
            here, behind = ends[rank % 2], ends[(rank + 1) % 2]
            words = [self.program, "-n", str(RANKS), "-r", str(rank), "-p", str(first_port), "-s", str(self.size),
                     *(here.options() if here.device else []), behind.address]
            if rank:
                here.host.start(words, here.netns, first_port + rank)
            else:
                values = words_to_metrics(trial.run(words, patience=3 * PATIENCE))
        # Each of the ranks sends the vector nearly twice.
        trial.check_wire(2 * (RANKS - 1) * self.size)
        return values


class Stream:
    """iperf3 over TCP, writes of one size."""

    def __init__(self, size, seconds, options=(), cost=False):
        self.size = size
        self.seconds = seconds
        self.cost = cost
        self.options = list(options)

    def run(self, trial):
        address = trial.path.server.address
        trial.start(["iperf3", "-s", "-1", "-p", str(trial.port)])
        with CpuTime(trial.path.client.host) as cpu:
            output = trial.run(["iperf3", "-J", "-c", address, "-p", str(trial.port), "-t", str(self.seconds),
                                "-l", str(self.size), *self.options], PATIENCE + self.seconds)
        end = json.loads(output)["end"]
        received = [end[name] for name in ("sum_received", "sum_received_bidir_reverse") if name in end]
        megabytes = sum(way["bits_per_second"] for way in received) / 8e6
        trial.check_wire(0.9 * sum(way["bytes"] for way in received))
        share = cpu.share(self.seconds) if self.cost and len(trial.hosts()) == 1 else None
        return {"MBps": megabytes, **(cost_per_kb([one * 1e3 / megabytes for one in share]) if share else {})}


class PingPong:
    """Two sockets, both polled; and so are their netdevs, if busy."""

    def __init__(self, plain, protocol, size, iterations, one_cpu=False, busy=False):
        self.words = [plain, *(["-b"] if busy else []), protocol]
        self.protocol = protocol
        self.size = size
        self.iterations = iterations
        self.one_cpu = one_cpu

    def run(self, trial):
        port, size = str(trial.port), str(self.size)
        with OnlyCpu(trial.path.client.host, self.one_cpu):
            trial.start([*self.words, "serve", port, size], udp=self.protocol == "udp")
            return words_to_metrics(trial.run([*self.words, "ping", port, size, trial.path.server.address,
                                               str(self.iterations)]))


class Pong:
    """Two processes that poll a CQ, our program pong: each answers without waiting for its own completions."""

    def __init__(self, program, size, iterations):
        self.words = [program, "-s", str(size), "-n", str(iterations)]

    def run(self, trial):
        common = [*self.words, "-p", str(trial.port)]
        server, client = trial.path.server, trial.path.client
        trial.start(common + server.options())
        return words_to_metrics(trial.run([*common, *client.options(), server.address]))


class Flood:
    """Super-packets of UDP to a socket that drops them: the time that the path takes alone."""

    def __init__(self, plain, seconds):
        self.plain = plain
        self.seconds = seconds

    def run(self, trial):
        port, size, milliseconds = str(trial.port), str(trial.path.path_mtu()), 1000 * self.seconds
        trial.start([self.plain, "udp", "sink", port, str(milliseconds + 2000)], udp=True)
        values = words_to_metrics(trial.run([self.plain, "udp", "flood", port, size, trial.path.server.address,
                                             str(milliseconds)]))
        trial.check_wire(0.9 * values["MBps"] * 1e6 * self.seconds)
        return values


class Objects:
    """Regions or queue pairs made and destroyed, one after the other."""

    def __init__(self, program, kind, size, seconds):
        self.words = [program, kind, str(size), str(1000 * seconds)]

    def run(self, trial):
        return words_to_metrics(trial.run([*self.words, *trial.path.client.options()]))


class Copy:
    """memcpy between two buffers."""

    def __init__(self, plain, size, milliseconds):
        self.plain = plain
        self.size = size
        self.milliseconds = milliseconds

    def run(self, trial):
        return words_to_metrics(trial.run([self.plain, "memcpy", str(self.size), str(self.milliseconds)]))
