#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Measure, inside a guest: every workload for every system in turn, round after round; called by run.

Two veth pairs:

    init_net    va 10.91.0.1 ====== vb 10.91.0.2    rxe0 on va, rxe1 on vb (rdma_rxe knows no other namespace)
    bench1      ha 10.92.0.1 ====== hb 10.92.0.2    bench2: hroce0 on ha, hroce1 on hb; TCP and UDP too

In init_net the table "local" is left out for the two addresses, else frames between them would never see the wire.
What is said to cross a wire is checked by the byte counters of the veth pair. On "veth" hroce computes and checks
the ICRC, as between two nodes; on "veth_elided" it may find out that frames stay on this host, and leave it out.

Each line of the result: round, topology, workload, size, metric, system, value; the metric "failed" has a reason as
its value, and such an attempt counts for nothing else.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
MTU = 9000
RDMA_MTU = 4096
FIRST_PORT = 18600
READY_SECONDS = 10
ATTEMPTS = 3


class Failed(Exception):
    """An attempt to measure did not give a number."""


def call(*command, netns=None):
    prefix = ["ip", "netns", "exec", netns] if netns else []
    subprocess.run([*prefix, *command], check=True)


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def wait_for(condition, seconds=READY_SECONDS):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


class End:
    """Where one of the two programs runs: network namespace, RDMA device, address for the other one."""

    def __init__(self, netns, device, address, gid_address=None):
        self.netns = netns
        self.device = device
        self.address = address
        self.gid_address = gid_address or address
        self.gid_index = None

    def command(self, words):
        return (["ip", "netns", "exec", self.netns] if self.netns else []) + words

    def find_gid(self):
        """Look the index of the RoCEv2 GID up. Return False as long as there is none."""
        octets = [int(octet) for octet in self.gid_address.split(".")]
        gid = "0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x" % tuple(octets)
        port = f"/sys/class/infiniband/{self.device}/ports/1"
        listing = subprocess.run(self.command(["grep", "-lx", gid, "-r", f"{port}/gids"]), stdout=subprocess.PIPE,
                                 text=True, check=False).stdout.split()
        for index in sorted(int(path.rsplit("/", 1)[1]) for path in listing):
            kind = subprocess.run(self.command(["cat", f"{port}/gid_attrs/types/{index}"]), stdout=subprocess.PIPE,
                                  text=True, check=False).stdout.strip()
            if kind == "RoCE v2":
                self.gid_index = index
                return True
        return False


class Path:
    """Two ends, the netdev whose counters tell that bytes went through it, and whether hroce may elide the ICRC."""

    def __init__(self, server, client, wire=None, elide=None):
        self.server = server
        self.client = client
        self.wire = wire
        self.elide = elide

    def switch(self):
        if self.elide is None:
            return
        for end in (self.server, self.client):
            with open(f"/sys/kernel/debug/hroce/{end.device}/elide_icrc", "w", encoding="ascii") as file:
                file.write("Y" if self.elide else "N")

    def wire_bytes(self):
        if not self.wire:
            return 0
        total = 0
        for name in ("rx_bytes", "tx_bytes"):
            path = f"/sys/class/net/{self.wire}/statistics/{name}"
            total += int(subprocess.run(self.client.command(["cat", path]), stdout=subprocess.PIPE, text=True,
                                        check=True).stdout)
        return total


class Pair:
    """A server and a client program, both ended whatever happens."""

    port = FIRST_PORT

    def __init__(self, path):
        Pair.port += 1
        self.path = path
        self.server = None

    def start_server(self, words, udp=False):
        self.server = subprocess.Popen(self.path.server.command(words), stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if not wait_for(lambda: self.server.poll() is not None or self.listening(udp)):
            raise Failed("server not ready")
        if self.server.poll() is not None:
            raise Failed("server: " + last_line(self.server.stdout.read()))

    def listening(self, udp):
        wanted = re.compile(rf":{self.port:04X} \S+ {'07' if udp else '0A'} ")
        tables = ("udp", "udp6") if udp else ("tcp", "tcp6")
        try:
            return any(wanted.search(read(f"/proc/{self.server.pid}/net/{table}")) for table in tables)
        except OSError:
            return False

    def run_client(self, words, seconds):
        try:
            done = subprocess.run(self.path.client.command(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            raise Failed(f"client not done after {seconds} s") from None
        if done.returncode:
            raise Failed(f"client: status {done.returncode}: {last_line(done.stdout)}")
        return done.stdout

    def finish(self):
        if not self.server:
            return
        try:
            self.server.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self.server.kill()
            self.server.wait()
        self.server.stdout.close()


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip(" -")]
    return lines[-1] if lines else "no output"


def perftest_row(output):
    """The numbers of the only line of results."""
    rows = re.findall(r"^ *\d+ +\d+ +[-\d.inf].*$", output, re.MULTILINE)
    if len(rows) != 1:
        raise Failed("no result: " + last_line(output))
    return [float(word) for word in rows[0].split()]


class Bandwidth:
    """ib_write_bw and its like."""

    def __init__(self, name, tool, size, seconds, options=(), rate=False):
        self.name = name
        self.tool = tool
        self.size = size
        self.seconds = seconds
        self.options = list(options)
        self.rate = rate

    def run(self, path, pair):
        common = [self.tool, "-F", "-p", str(pair.port), "-m", str(RDMA_MTU), "-s", str(self.size),
                  "-D", str(self.seconds), "-f", "0", "--report_gbits", *self.options]
        ends = [[*common, "-d", end.device, "-x", str(end.gid_index)] for end in (path.server, path.client)]
        pair.start_server(ends[0])
        before = path.wire_bytes()
        row = perftest_row(pair.run_client([*ends[1], path.server.address], self.seconds + 20))
        # The rate has six digits behind the point, the bandwidth two.
        messages = row[4] * 1e6
        megabytes = messages * self.size / 1e6
        if path.wire and path.wire_bytes() - before < 0.9 * megabytes * 1e6 * self.seconds:
            raise Failed("bytes did not cross the wire")
        return {"msgps": messages} if self.rate else {"MBps": megabytes}


class Latency:
    """ib_write_lat and its like."""

    def __init__(self, name, tool, size, iterations):
        self.name = name
        self.tool = tool
        self.size = size
        self.iterations = iterations

    def run(self, path, pair):
        common = [self.tool, "-F", "-p", str(pair.port), "-m", str(RDMA_MTU), "-s", str(self.size),
                  "-n", str(self.iterations)]
        ends = [[*common, "-d", end.device, "-x", str(end.gid_index)] for end in (path.server, path.client)]
        pair.start_server(ends[0])
        before = path.wire_bytes()
        row = perftest_row(pair.run_client([*ends[1], path.server.address], 30))
        if path.wire and path.wire_bytes() - before < self.iterations * self.size:
            raise Failed("bytes did not cross the wire")
        return {"us_typ": row[4], "us_p99": row[7], "us_p999": row[8]}


class Stream:
    """iperf3 over TCP, writes of one size."""

    def __init__(self, name, size, seconds):
        self.name = name
        self.size = size
        self.seconds = seconds

    def run(self, path, pair):
        pair.start_server(["iperf3", "-s", "-1", "-p", str(pair.port)])
        before = path.wire_bytes()
        output = pair.run_client(["iperf3", "-J", "-c", path.server.address, "-p", str(pair.port),
                                  "-t", str(self.seconds), "-l", str(self.size)], self.seconds + 20)
        received = json.loads(output)["end"]["sum_received"]
        if path.wire and path.wire_bytes() - before < 0.9 * received["bytes"]:
            raise Failed("bytes did not cross the wire")
        return {"MBps": received["bits_per_second"] / 8e6}


class PingPong:
    """Two sockets, both polled."""

    def __init__(self, name, protocol, size, iterations, plain):
        self.name = name
        self.protocol = protocol
        self.size = size
        self.iterations = iterations
        self.plain = plain

    def run(self, path, pair):
        port, size = str(pair.port), str(self.size)
        pair.start_server([self.plain, self.protocol, "serve", port, size], udp=self.protocol == "udp")
        output = pair.run_client([self.plain, self.protocol, "ping", port, size, path.server.address,
                                  str(self.iterations)], 30)
        return {key: float(value) for key, value in (word.split("=") for word in output.split())}


class Copy:
    """memcpy between two buffers."""

    def __init__(self, name, size, milliseconds, plain):
        self.name = name
        self.size = size
        self.milliseconds = milliseconds
        self.plain = plain

    def run(self, _path, pair):
        output = pair.run_client([self.plain, "memcpy", str(self.size), str(self.milliseconds)], 30)
        return {"MBps": float(output.split("=")[1])}


def rdma_workloads(seconds, iterations):
    return [
        Bandwidth("write", "ib_write_bw", 64, 1),
        Bandwidth("write", "ib_write_bw", 4096, 1),
        Bandwidth("write", "ib_write_bw", 65536, seconds),
        # perftest fills the queue before it first looks for completions: keep that short against the duration.
        Bandwidth("write", "ib_write_bw", 1 << 20, 1, ["-t", "16"]),
        Bandwidth("read", "ib_read_bw", 65536, 1),
        Bandwidth("send", "ib_send_bw", 65536, 1),
        Bandwidth("send_rate", "ib_send_bw", 64, 1, rate=True),
        Latency("write_lat", "ib_write_lat", 8, iterations),
    ]


def workloads(system, topology, args):
    if topology == "veth_elided":
        return [Bandwidth("write", "ib_write_bw", 65536, args.seconds)]
    if system in ("rxe", "hroce"):
        return rdma_workloads(args.seconds, args.iterations)
    if system == "tcp":
        return [Stream("write", 65536, args.seconds), PingPong("write_lat", "tcp", 8, args.iterations, args.plain)]
    if system == "udp" and topology == "veth":
        return [PingPong("write_lat", "udp", 8, args.iterations, args.plain)]
    if system == "memcpy" and topology == "local":
        return [Copy("write", 65536, 500, args.plain), Copy("write", 1 << 20, 500, args.plain)]
    return []


def set_rxe_up():
    call("modprobe", "rdma_rxe")
    call("ip", "link", "add", "va", "mtu", str(MTU), "address", "02:00:00:00:91:01", "type", "veth",
         "peer", "name", "vb", "mtu", str(MTU), "address", "02:00:00:00:91:02")
    for name in ("all", "va", "vb"):
        call("sysctl", "-qw", f"net.ipv4.conf.{name}.rp_filter=0", f"net.ipv4.conf.{name}.accept_local=1")
    for this, that, dev, link in ((1, 2, "va", "rxe0"), (2, 1, "vb", "rxe1")):
        call("ip", "addr", "add", f"10.91.0.{this}/24", "dev", dev)
        call("ip", "link", "set", dev, "up")
        call("ip", "rule", "add", "pref", "10", "iif", dev, "lookup", "local")
        call("ip", "rule", "add", "pref", "20", "from", f"10.91.0.{this}", "to", f"10.91.0.{that}", "lookup", "91")
        call("ip", "neigh", "replace", f"10.91.0.{that}", "lladdr", f"02:00:00:00:91:{that:02x}", "dev", dev,
             "nud", "permanent")
        call("rdma", "link", "add", link, "type", "rxe", "netdev", dev)
    for that, dev in ((2, "va"), (1, "vb")):
        call("ip", "route", "add", f"10.91.0.{that}/32", "dev", dev, "table", "91")
    call("ip", "rule", "add", "pref", "100", "lookup", "local")
    call("ip", "rule", "del", "pref", "0")


def set_namespaces_up():
    for netns in ("bench1", "bench2"):
        call("ip", "netns", "add", netns)
        call("ip", "link", "set", "lo", "up", netns=netns)
    call("ip", "link", "add", "ha", "mtu", str(MTU), "netns", "bench1", "type", "veth",
         "peer", "name", "hb", "mtu", str(MTU), "netns", "bench2")
    for index, dev in ((1, "ha"), (2, "hb")):
        call("ip", "addr", "add", f"10.92.0.{index}/24", "dev", dev, netns=f"bench{index}")
        call("ip", "link", "set", dev, "up", netns=f"bench{index}")


def set_hroce_up():
    call("modprobe", "hroce")
    for index, (dev, link) in enumerate((("ha", "hroce0"), ("hb", "hroce1")), 1):
        call("rdma", "link", "add", link, "type", "hroce", "netdev", dev, netns=f"bench{index}")


def paths(systems):
    """(topology, system) to the way that its bytes take."""
    result = {}
    if "rxe" in systems:
        ends = [End(None, f"rxe{i}", "127.0.0.1", f"10.91.0.{i + 1}") for i in (0, 1)]
        result["veth", "rxe"] = Path(ends[1], ends[0], "va")
        result["local", "rxe"] = Path(ends[0], ends[0])
    if "hroce" in systems:
        ends = [End(f"bench{i + 1}", f"hroce{i}", f"10.92.0.{i + 1}") for i in (0, 1)]
        result["veth", "hroce"] = Path(ends[1], ends[0], "ha", elide=False)
        result["veth_elided", "hroce"] = Path(ends[1], ends[0], "ha", elide=True)
        result["local", "hroce"] = Path(ends[0], ends[0], elide=True)
    for system in ("tcp", "udp", "memcpy"):
        if system in systems:
            ends = [End(f"bench{i}", None, f"10.92.0.{i}") for i in (1, 2)]
            result["veth", system] = Path(ends[1], ends[0], "ha")
            result["local", system] = Path(ends[0], ends[0])
    return result


def attempt(workload, path):
    pair = Pair(path)
    path.switch()
    try:
        values = workload.run(path, pair)
    finally:
        pair.finish()
    for metric, value in values.items():
        if not 0 < value < float("inf"):
            raise Failed(f"{metric} is {value}")
    return values


def plan(ways, args):
    """What one round measures, the systems side by side for each workload."""
    rows = []
    for (topology, system), path in ways.items():
        for workload in workloads(system, topology, args):
            if not args.workloads or workload.name in args.workloads:
                rows.append((workload.name, workload.size, topology, system, workload, path))
    order = list(dict.fromkeys((row[0], row[1]) for row in rows))
    return sorted(rows, key=lambda row: order.index((row[0], row[1])))


def measure(rows, args, out):
    missing = 0
    for number in range(1, args.rounds + 1):
        # There and back again, so that no system always follows the same other one.
        for name, size, topology, system, workload, path in rows if number % 2 else rows[::-1]:
            for _ in range(ATTEMPTS):
                head = f"{number}\t{topology}\t{name}\t{size}"
                try:
                    values = attempt(workload, path)
                except (Failed, OSError, ValueError, KeyError) as error:
                    print(f"{head}\tfailed\t{system}\t{error}", file=out, flush=True)
                    print(f"round {number}: {topology:6} {name:10} {size:8} {system:7} failed: {error}", flush=True)
                    continue
                for metric, value in values.items():
                    print(f"{head}\t{metric}\t{system}\t{value:.6g}", file=out, flush=True)
                shown = ", ".join(f"{metric} {value:.4g}" for metric, value in values.items())
                print(f"round {number}: {topology:6} {name:10} {size:8} {system:7} {shown}", flush=True)
                break
            else:
                missing += 1
    return missing


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--iterations", type=int, default=3000)
    parser.add_argument("--systems", default="rxe,hroce,tcp,udp,memcpy")
    parser.add_argument("--workloads", default="")
    parser.add_argument("--plain", required=True, help="path of the program built from plain.c")
    parser.add_argument("out", help="file for the results")
    args = parser.parse_args()
    systems = args.systems.split(",")
    args.workloads = args.workloads.split(",") if args.workloads else []

    try:
        set_namespaces_up()
        if "hroce" in systems:
            set_hroce_up()
        if "rxe" in systems:
            set_rxe_up()
    except subprocess.CalledProcessError as error:
        sys.exit(f"measure: {shlex.join(error.cmd)}: status {error.returncode}")
    ways = paths(systems)
    for (topology, system), path in ways.items():
        for end in (path.server, path.client):
            if end.device and not wait_for(end.find_gid):
                sys.exit(f"measure: {system}: {end.device} has no GID for {end.gid_address}")
    with open(args.out, "w", encoding="utf-8") as out:
        missing = measure(plan(ways, args), args, out)
    if missing:
        sys.exit(f"measure: {missing} values missing after {ATTEMPTS} attempts each")


if __name__ == "__main__":
    main()
