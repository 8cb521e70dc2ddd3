#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Cut the way that a stream of WRITEs takes, and see for how long nothing completes.

usage: outage.py NAME BAR WAY LEAST NAMESPACE LIMIT DELAY NETDEV...

The netdevs of the namespace are ways from nla to nlb; each has a netem qdisc at its root, with that limit in packets
and that delay in microseconds. The stream must take LEAST ways. The busiest, which must be WAY unless that is empty,
loses all from one message of netlink on: a process would take the CPU. If it is the first of two addresses, the other
one has been proved before.
Within BAR milliseconds, the stream must have its goodput again. It is that of selftests/verbs/vt_pulse.c. Prints TAP.
"""

import bisect
import ctypes
import json
import os
import socket
import statistics
import struct
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "lib"))

import tap

RTM_NEWQDISC = 36
NLM_F_REQUEST, NLM_F_ACK = 1, 4
TCA_KIND, TCA_OPTIONS = 1, 2
TC_H_ROOT = 0xffffffff
ALL = 0xffffffff

CUTS, ATTEMPTS, ROUNDS = 9, 20, 3
# For all rounds. What was counted until then is judged.
MOST_SECONDS = 90
# How long the stream runs, when its way is cut, and how long before that it is looked at.
RUN_MS, CUT_MS, BEFORE_MS = 400, 250, 100
WINDOW_MS = 10
# What is left of the goodput before, of all ways that still work.
SHARE = 0.9
# A cut counts if nothing waited longer than this before it: the machine may have stood still. If there are such gaps
# without a cut, too, or windows are slow, the machine cannot judge.
CALM_MS, QUIET_MS = 4, 2.5


class Failure(Exception):
    """A case went wrong."""


def enter(namespace):
    with open("/run/netns/" + namespace, "rb") as there:
        if ctypes.CDLL(None, use_errno=True).setns(there.fileno(), 0x40000000):
            raise OSError(ctypes.get_errno(), "setns")


class Way:
    """A netdev with netem."""

    def __init__(self, netlink, name, limit, delay_us):
        self.netlink = netlink
        self.name = name
        self.limit = limit
        self.ticks = delay_us * 1000 >> 6
        self.index = socket.if_nametoindex(name)

    def lose(self, share):
        """Change the share of packets that it loses."""
        options = struct.pack("=IIIIII", self.ticks, self.limit, share, 0, 0, 0)
        kind = b"netem\0"
        attributes = struct.pack("=HH8s", 4 + len(kind), TCA_KIND, kind)
        attributes += struct.pack("=HH", 4 + len(options), TCA_OPTIONS) + options
        body = struct.pack("=BxxxiIII", socket.AF_UNSPEC, self.index, 0, TC_H_ROOT, 0) + attributes
        message = struct.pack("=IHHII", 16 + len(body), RTM_NEWQDISC, NLM_F_REQUEST | NLM_F_ACK, 1, 0) + body
        self.netlink.send(message)
        error = struct.unpack("=i", self.netlink.recv(4096)[16:20])[0]
        if error:
            raise OSError(-error, f"{self.name}: {os.strerror(-error)}")


class Stream:
    """The WRITEs."""

    def __init__(self):
        program = os.path.join(os.environ["VT_BUILD"], "vt_pulse")
        env = dict(os.environ, HROCE_DEV="nla", HROCE_DEV2="nlb")
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)

    def begin(self, milliseconds):
        self.process.stdin.write(f"run {milliseconds}\n")
        self.process.stdin.flush()

    def end(self):
        """When WRITEs completed."""
        answer = self.process.stdout.readline().split()
        if not answer:
            raise Failure(f"the stream has ended: {self.process.wait()}")
        if len(answer) < 2:
            raise Failure("nothing has completed")
        return [int(word) for word in answer]


def sent(names):
    """Packets that have left by each way."""
    text = subprocess.run(["ip", "-s", "-j", "link"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {link["ifname"]: link["stats64"]["tx"]["packets"] for link in json.loads(text) if link["ifname"] in names}


class Seen:
    """What happened around a cut, in milliseconds.

    calm: the longest gap between completions before it
    gap: the longest one that begins soon after it
    back: until a window begins, behind the longest gap, that has its share of the goodput before
    windows: of those that begin with the cut, shares of that goodput
    """

    def __init__(self, times, cut_at, left):
        window = WINDOW_MS * 1000
        first = bisect.bisect_left(times, cut_at - BEFORE_MS * 1000)
        at = max(1, bisect.bisect_left(times, cut_at))
        wanted = max(1, (at - first) * WINDOW_MS / BEFORE_MS * left)

        def share(begin):
            return (bisect.bisect_left(times, begin + window) - bisect.bisect_left(times, begin)) / wanted

        def longest(begin, end):
            return max((b - a for a, b in zip(times[begin:end], times[begin + 1:end])), default=BEFORE_MS * 1000) / 1000

        self.calm = max(longest(max(0, first - 1), at), (cut_at - times[at - 1]) / 1000)
        # What is behind the cut still arrives.
        end = bisect.bisect_left(times, cut_at + window) + 1
        self.gap, behind = max(zip((b - a for a, b in zip(times[at - 1:end], times[at:end])), times[at:end]),
                               default=(BEFORE_MS * 1000, times[-1]))
        self.gap /= 1000
        self.back = next((begin for begin in times[at:] if begin >= behind and share(begin) >= SHARE), times[-1])
        self.back = (self.back - cut_at) / 1000
        self.windows = [share(cut_at + i * window) for i in range(4)]

    def __str__(self):
        windows = " ".join(f"{share:.2f}" for share in self.windows)
        return f"gap {self.gap:.2f} ms, {self.calm:.2f} before, back after {self.back:.2f} ms, windows {windows}"


def run(stream, way=None):
    """Let the stream run, and cut a way meanwhile. Return when its WRITEs completed, and when that was."""
    stream.begin(RUN_MS)
    time.sleep(CUT_MS / 1000)
    at = time.monotonic_ns() // 1000
    if not way:
        return stream.end(), at
    way.lose(ALL)
    try:
        return stream.end(), at
    finally:
        way.lose(0)


def used_ways(stream, ways):
    """The ways that carry the stream, the busiest one first, and what happens without a cut."""
    before = sent(ways)
    seen = Seen(*run(stream), 1)
    after = sent(ways)
    packets = {name: after[name] - before[name] for name in ways}
    return [ways[name] for name in sorted(ways, key=packets.get, reverse=True) if packets[name] > 50], seen


def is_ready():
    """The second way has been proved, and is not in use."""
    text = subprocess.run(["rdma", "-dd", "resource", "show", "qp", "link", "nla"], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    return "drv_second ready" in text


def measure(stream, ways, wanted, least, end):
    """Cut the way in use until CUTS of them count. Return what was seen without cuts, and with them."""
    quiet, broken = [], []
    for _ in range(ATTEMPTS):
        for tries in range(1, 31):
            used, without = used_ways(stream, ways)
            if len(used) >= least and (not wanted or ([way.name for way in used] == [wanted] and is_ready())):
                break
            # All ports may have met on one way by chance. They are drawn anew when it breaks.
            if used and least > 1 and tries % 5 == 0:
                run(stream, used[0])
        else:
            raise Failure(f"the stream does not take {wanted or least} of the ways")
        seen = Seen(*run(stream, used[0]), 1 - 1 / len(used) if len(used) > 1 else 1)
        print(f"# {used[0].name} of {len(used)}: {seen}; without a cut {without.gap:.2f} ms", flush=True)
        if without.calm <= CALM_MS:
            quiet.append(without)
        if seen.calm <= CALM_MS:
            broken.append(seen)
        if len(broken) == CUTS or time.monotonic() > end:
            break
    return quiet, broken


def judge(name, bar_ms, quiet, broken):
    """Return what there is to say, whether the machine can judge, and whether all is well."""
    if len(broken) < CUTS or not quiet:
        return f"{name}: {len(broken)} cuts count", False, True
    gap, back = [statistics.median(values) for values in zip(*((seen.gap, seen.back) for seen in broken))]
    calm, at_once = [statistics.median(values) for values in zip(*((seen.gap, seen.back) for seen in quiet))]
    text = (f"{name}: medians of {CUTS}: a gap of {gap:.2f} ms, {calm:.2f} without a cut, back after {back:.2f} ms,"
            f" {at_once:.2f} without a cut")
    return text, max(calm, at_once) <= QUIET_MS, max(gap, back) <= bar_ms


def main():
    name, bar_ms, wanted, least, namespace, limit, delay_us = sys.argv[1:8]
    report = tap.Tap(1)
    stream = Stream()
    enter(namespace)
    netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    ways = {dev: Way(netlink, dev, int(limit), int(delay_us)) for dev in sys.argv[8:]}
    end = time.monotonic() + MOST_SECONDS
    try:
        for _ in range(ROUNDS):
            text, can, well = judge(name, float(bar_ms), *measure(stream, ways, wanted, int(least), end))
            print(f"# {text}", flush=True)
            if well or not can:
                break
        report.case(name, well or not can, skip="" if can else "the machine stands still too often")
    except (Failure, OSError, subprocess.SubprocessError) as error:
        report.case(name, False, error)
    stream.process.stdin.close()
    stream.process.wait()
    sys.exit(report.done())


if __name__ == "__main__":
    main()
