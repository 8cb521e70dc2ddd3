#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Set ports of a bond down and up again under traffic, and see for how long nothing completes.

usage: bonds.py MODE NAMESPACE-A NAMESPACE-B FIRST SECOND ...

nla is on a bond of pa0 and pa1 in namespace A, nlb on one of pb0 and pb1 in B. FIRST and SECOND, NAMESPACE/PREFIX each,
are netdevs to set down: FIRST with the number of the port that has most packets, and when all is well again, SECOND with
the other number. There may be several such pairs.
Two connections must go on: a stream of WRITEs (selftests/verbs/vt_pulse.c), which may not be silent for longer than
BAR_MS, and verified traffic of all operations (vt_traffic.c). Prints TAP.
"""

import contextlib
import ctypes
import os
import socket
import struct
import subprocess
import sys
import threading
import time

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "lib"))

import tap

RTM_NEWLINK, RTM_GETLINK, RTM_SETLINK = 16, 18, 19
NLMSG_ERROR = 2
NLM_F_REQUEST, NLM_F_ACK = 1, 4
IFF_UP = 1
IFLA_IFNAME, IFLA_LINKINFO, IFLA_STATS64 = 3, 18, 23
IFLA_INFO_SLAVE_DATA = 5
SLAVE_MII_STATUS, SLAVE_AGGREGATOR, SLAVE_ACTOR, SLAVE_PARTNER = 2, 6, 7, 8
LACP_DISTRIBUTING = 0x20

SCALE = float(os.environ.get("HROCE_TIME_SCALE", "1"))
# Bonds look at their ports each 50 ms. Only a machine that stood still for STILL_MS may try again.
BAR_MS, STILL_MS, ROUNDS = 500 * SCALE, 250 * SCALE, 3
# How long a port is down, and the least time after it has returned.
DOWN_S, UP_S = 0.3, 0.2
PATIENCE_S = 20 * SCALE
# A port that is used has so many packets in that time.
PERIOD_S, USED = 0.1, 20
RUN_MS = 50
# vt_pulse gives up after two seconds without a completion. After one, its queue pairs are shown.
SILENT_US = 1e6
# What must be seen where each port gets a copy, and where one of two is slower.
SEEN = {"broadcast": "duplicates", "balance-rr": "kept"}


class Failure(Exception):
    """A case went wrong."""


@contextlib.contextmanager
def inside(namespace):
    """Be in a network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/self/ns/net", "rb") as home, open("/run/netns/" + namespace, "rb") as there:
        if libc.setns(there.fileno(), 0):
            raise OSError(ctypes.get_errno(), "setns")
        yield
        if libc.setns(home.fileno(), 0):
            raise OSError(ctypes.get_errno(), "setns")


def attributes(data):
    """Those of netlink, by their types."""
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack("=HH", data[:4])
        found[kind & 0x3fff] = data[4:length]
        data = data[length + 3 & ~3:]
    return found


class Port:
    """A netdev of a namespace."""

    def __init__(self, namespace, name):
        self.name = name
        with inside(namespace):
            self.netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
            self.index = socket.if_nametoindex(name)

    def ask(self, kind, flags, change_to=0, change=0):
        body = struct.pack("=BxHiII", socket.AF_UNSPEC, 0, self.index, change_to, change)
        self.netlink.send(struct.pack("=IHHII", 16 + len(body), kind, NLM_F_REQUEST | flags, 1, 0) + body)
        answer = self.netlink.recv(1 << 16)
        kind, error = struct.unpack("=4xH10xi", answer[:20])
        if kind == NLMSG_ERROR and error:
            raise OSError(-error, f"{self.name}: {os.strerror(-error)}")
        return attributes(answer[32:]) if kind == RTM_NEWLINK else {}

    def set(self, up):
        self.ask(RTM_SETLINK, NLM_F_ACK, IFF_UP if up else 0, IFF_UP)

    def packets(self):
        """That it has sent and received."""
        return sum(struct.unpack("=QQ", self.ask(RTM_GETLINK, 0)[IFLA_STATS64][:16]))

    def state(self):
        """What the bond thinks: whether the port works, and its aggregator."""
        about = attributes(attributes(self.ask(RTM_GETLINK, 0)[IFLA_LINKINFO]).get(IFLA_INFO_SLAVE_DATA, b""))
        well = about.get(SLAVE_MII_STATUS) == b"\0"
        if SLAVE_AGGREGATOR not in about:
            return well, None
        states = about.get(SLAVE_ACTOR, b"\0")[0] & about.get(SLAVE_PARTNER, b"\0")[0]
        return well and bool(states & LACP_DISTRIBUTING), about[SLAVE_AGGREGATOR]


def counter(link, name):
    with open(f"/sys/class/infiniband/{link}/ports/1/hw_counters/{name}", encoding="ascii") as file:
        return int(file.read())


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            raise Failure(f"waited in vain: {what}")
        time.sleep(0.02)


class Program(subprocess.Popen):
    """One of selftests/verbs, from nla to nlb."""

    def __init__(self, *words):
        words = [os.path.join(os.environ["VT_BUILD"], words[0]), *words[1:]]
        super().__init__(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         env=dict(os.environ, HROCE_DEV="nla", HROCE_DEV2="nlb"))


class Stream(threading.Thread):
    """The WRITEs. Runs follow each other at once, as the next one is always asked for."""

    def __init__(self):
        super().__init__()
        self.times = []
        self.heard = now()
        self.said = ""
        self.ends = False
        self.program = Program("vt_pulse")
        self.next()
        self.start()

    def next(self):
        self.program.stdin.write(f"run {RUN_MS}\n")
        self.program.stdin.flush()

    def run(self):
        with contextlib.suppress(BrokenPipeError):
            self.next()
        for line in self.program.stdout:
            try:
                self.times += map(int, line.split())
                self.heard = now()
                if not self.ends:
                    self.next()
            except (ValueError, BrokenPipeError):
                self.said += line
        self.program.wait()

    def end(self):
        """Return whether it was silent for too long; fail if one of its WRITEs has failed."""
        self.ends = True
        self.program.stdin.close()
        self.join()
        if self.program.returncode and "nothing completes" not in self.said:
            raise Failure(f"the stream has ended: {self.said}")
        return bool(self.program.returncode)

    def gap(self, begin, end):
        """The longest time in milliseconds without a completion, of those that touch the time from begin to end."""
        return max((b - a for a, b in zip(self.times, self.times[1:]) if b > begin and a < end), default=0) / 1000


def now():
    return time.monotonic_ns() // 1000


class Bonds:
    """Both ends."""

    def __init__(self, mode, a, b):
        self.mode = mode
        self.ends = [[Port(a, f"pa{i}") for i in range(2)], [Port(b, f"pb{i}") for i in range(2)]]

    def work(self):
        """Do both use all their ports?"""
        for ports in self.ends:
            states = [port.state() for port in ports]
            if not all(well for well, _ in states) or len({group for _, group in states}) > 1:
                return False
        return True

    def wait(self):
        wait_for("all ports work", self.work)


class Watch(threading.Thread):
    """Notes for how long the machine stood still, and shows the queue pairs once if the stream does."""

    def __init__(self, stream):
        super().__init__()
        self.stream = stream
        self.still_ms = 0
        self.start()

    def run(self):
        shown = False
        while self.stream.is_alive():
            begin = now()
            time.sleep(0.02)
            self.still_ms = max(self.still_ms, (now() - begin) / 1000 - 20)
            if not shown and now() - self.stream.heard > SILENT_US:
                shown = True
                text = subprocess.run(["rdma", "-dd", "resource", "show", "qp"], stdout=subprocess.PIPE, text=True,
                                      check=False).stdout
                print("# silent: " + text.strip().replace("\n", "\n# "), flush=True)


def go_on():
    """Packets come to both ends, more than may have been on the way."""
    before = {link: counter(link, "rx_packets") for link in ("nla", "nlb")}
    wait_for("packets at both ends", lambda: all(counter(link, "rx_packets") > before[link] + 500 for link in before))


def used(ports):
    """How many packets each port has in a while."""
    before = [port.packets() for port in ports]
    time.sleep(PERIOD_S)
    return [port.packets() - was for port, was in zip(ports, before)]


def down_and_up(bonds, port, events):
    begin = now()
    port.set(False)
    go_on()
    time.sleep(max(0, DOWN_S - (now() - begin) / 1e6))
    returns = now()
    port.set(True)
    bonds.wait()
    go_on()
    time.sleep(UP_S)
    events += [(f"{port.name} down", begin, returns), ("up", returns, now())]


def ports_die(bonds, pairs):
    """Return what happened: names, and when that began and ended."""
    begin = now()
    go_on()
    events = [("before", begin, now())]
    for first, second in pairs:
        packets = used(first)
        number = packets.index(max(packets))
        if packets[number] < USED:
            raise Failure(f"{first[number].name}: {packets[number]} packets")
        down_and_up(bonds, first[number], events)
        # Nothing, perhaps, if all has returned to the first.
        down_and_up(bonds, second[1 - number], events)
    return events


def attempt(bonds, pairs):
    """Return the longest gap, and for how long the machine stood still."""
    reads = counter("nlb", "rx_read_requests")
    stream, traffic = Stream(), Program("vt_traffic", "-T", "100", "-w", "4", "-x", "30000")
    watch = Watch(stream)
    try:
        # At a failover, ib_core moves GIDs that are in use to other indices: who connects just then fails.
        wait_for("traffic", lambda: traffic.poll() is not None or counter("nlb", "rx_read_requests") > reads)
        events = ports_die(bonds, pairs)
    except Failure as error:
        print(f"# {error}", flush=True)
        raise
    finally:
        traffic.terminate()
        said, _ = traffic.communicate()
        silent = stream.end()
        watch.join()
    gaps = [(name, stream.gap(begin, end)) for name, begin, end in events]
    print(f"# {bonds.mode}: {len(stream.times)} WRITEs, gaps:", ", ".join(f"{name} {gap:.0f} ms" for name, gap in gaps),
          f"{'and silence' if silent else ''} (the machine {watch.still_ms:.0f} ms)", flush=True)
    if traffic.returncode:
        raise Failure(f"status of the traffic: {traffic.returncode}: {said}")
    gap = 2000 * SCALE if silent else max(gap for _, gap in gaps)
    return gap, watch.still_ms


def check_counters(mode):
    """No packet is damaged, and the mode does what it is here for."""
    damaged = [counter(link, "rx_drop_icrc") for link in ("nla", "nlb")]
    if any(damaged):
        raise Failure(f"packets with a wrong ICRC: {damaged}")
    if mode in SEEN:
        seen = counter("nlb", SEEN[mode])
        print(f"# {mode}: {seen} {SEEN[mode]}")
        if not seen:
            raise Failure(f"no {SEEN[mode]}")


def main():
    mode, a, b = sys.argv[1:4]
    report = tap.Tap(1)
    name = f"bonds.{mode}"
    try:
        bonds = Bonds(mode, a, b)
        ends = [end.split("/") for end in sys.argv[4:]]
        ends = [[Port(namespace, f"{prefix}{i}") for i in range(2)] for namespace, prefix in ends]
        bonds.wait()
        for _ in range(ROUNDS):
            gap, still_ms = attempt(bonds, list(zip(ends[::2], ends[1::2])))
            if gap <= BAR_MS or still_ms < STILL_MS:
                break
        check_counters(mode)
        report.case(name, gap <= BAR_MS, "" if gap <= BAR_MS else f"nothing completes for {gap:.0f} ms")
    except (Failure, OSError, subprocess.SubprocessError) as error:
        report.case(name, False, error)
    sys.exit(report.done())


if __name__ == "__main__":
    main()
