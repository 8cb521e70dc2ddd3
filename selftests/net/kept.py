#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Throw requests at queue pairs in another order than that of their PSNs, and look what becomes of them.

usage: kept.py NAMESPACE-A NAMESPACE-B FAMILY

Packets, target and wire are those of inject.py. Prints TAP.
"""

import os
import random
import struct
import subprocess
import sys
import time

from inject import Failure, Packet, SWITCHES, Switched, Target, atomic_eth, counters, only_counted, reth, run_cases, wait_counted
from inject import RC_ATOMIC_WRITE, RC_CMP_SWAP, RC_FETCH_ADD, RC_READ, RC_SEND_FIRST, RC_SEND_LAST, RC_SEND_ONLY
from inject import RC_WRITE_ONLY

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "lib"))

import tap


def kept_bytes():
    with open(SWITCHES + "kept_bytes", encoding="ascii") as file:
        return int(file.read())


def wait_all_dropped(what):
    """What was kept is not, any more."""
    end = time.monotonic() + 5
    while kept_bytes():
        if time.monotonic() > end:
            raise Failure(f"{what}: {kept_bytes()} bytes are still kept")
        time.sleep(0.01)


def send_kept(target, packets, number=None):
    """Send packets ahead of the expected one, of which @number, or all, are kept; one NAK asks for what is missing."""
    before = counters()
    for packet in packets:
        target.send(packet.frame())
    grown = wait_counted(before, "rx_packets", len(packets))
    if grown.get("kept", 0) != (len(packets) if number is None else number) or grown.get("nak_seq_sent") != 1:
        raise Failure(f"{grown}")
    if grown.get("rx_bytes") or grown.get("rx_write_requests"):
        raise Failure(f"something was placed before its turn: {grown}")
    return grown


def completions(target, *lengths):
    for length in lengths:
        answer = target.ask("wc")
        if answer != f"wc 0 {length}":
            raise Failure(f"{answer}, expected {length} bytes")


def all_kinds(target):
    """In the reverse order, nothing is sent twice: all is executed in the order of PSNs, and acknowledged at once."""
    target.new("rc")
    target.check()
    target.ask("post 3")
    pair, psn = target.pair, target.psn
    packets = [
        Packet(target, RC_SEND_ONLY, psn(), b"a" * 60),
        Packet(target, RC_WRITE_ONLY, psn(1), b"k" * 32, reth(pair, 32, 64)),
        Packet(target, RC_WRITE_ONLY, psn(2), struct.pack("=Q", 5), reth(pair, 8, 96)),
        Packet(target, RC_FETCH_ADD, psn(3), b"", atomic_eth(pair, 96, 3, 0)),
        Packet(target, RC_CMP_SWAP, psn(4), b"", atomic_eth(pair, 96, 11, 8)),
        Packet(target, RC_READ, psn(5), b"", reth(pair, 64)),
        Packet(target, RC_ATOMIC_WRITE, psn(6), b"w" * 8, reth(pair, 8, 104)),
        Packet(target, RC_SEND_FIRST, psn(7), b"b" * 1024),
        Packet(target, RC_SEND_LAST, psn(8), b"c" * 20),
        Packet(target, RC_SEND_ONLY, psn(9), b"d" * 50),
    ]
    send_kept(target, packets[:0:-1])
    before = counters()
    target.send(packets[0].frame())
    completions(target, 60, 1044, 50)
    grown = wait_counted(before, "acks_sent", 1)
    wanted = {"rx_packets": 1, "rx_write_requests": 3, "rx_atomic_requests": 2, "rx_read_requests": 1}
    for name, value in wanted.items():
        if grown.get(name) != value:
            raise Failure(f"{name} should have grown by {value}: {grown}")
    for name in ("responder_errors", "duplicates", "kept", "kept_dropped", "nak_seq_sent"):
        if grown.get(name):
            raise Failure(f"{name} has grown: {grown}")
    data = bytes.fromhex(target.ask("data"))
    if data[:50] != b"d" * 50 or data[50:60] != b"b" * 10:
        raise Failure(f"messages are not in order: {data}")
    wait_all_dropped("all was executed")
    target.check("neighbour")


def writes_in_order(target):
    """Many WRITEs to the same place, in a random order: the last one is what remains."""
    rng = random.Random(22)
    target.new("rc")
    target.check()
    packets = [Packet(target, RC_WRITE_ONLY, target.psn(i), bytes([i & 0xff]) * 1024, reth(target.pair, 1024))
               for i in range(600)]
    late = packets[1:]
    rng.shuffle(late)
    send_kept(target, late)
    before = counters()
    target.send(packets[0].frame())
    grown = wait_counted(before, "rx_write_requests", 600)
    if grown.get("nak_seq_sent") or grown.get("duplicates") or grown["rx_bytes"] != 600 * 1024:
        raise Failure(f"{grown}")
    if bytes.fromhex(target.ask("data")) != bytes([599 & 0xff]) * 128:
        raise Failure("the last WRITE is not what remains")
    wait_all_dropped("all was executed")
    target.check("neighbour")


def again(target):
    """The same PSN with other content: the first one counts, before and after its turn."""
    target.new("rc")
    target.check()

    def write(ahead, byte):
        return Packet(target, RC_WRITE_ONLY, target.psn(ahead), byte * 64, reth(target.pair, 64))

    send_kept(target, [write(1, b"g"), write(1, b"e"), write(1, b"e")], 1)
    before = counters()
    target.send(write(0, b"f").frame())
    wait_counted(before, "rx_write_requests", 2)
    target.send(write(1, b"e").frame())
    grown = wait_counted(before, "duplicates", 1)
    if grown["rx_bytes"] != 128 or bytes.fromhex(target.ask("data"))[:64] != b"g" * 64:
        raise Failure(f"a duplicate was executed: {grown}")
    target.check("neighbour")


def damaged(target):
    """Damaged packets ahead are neither kept nor answered, and their PSNs stay free."""
    target.new("rc")
    target.check()
    target.ask("post 2")
    bad = [Packet(target, RC_SEND_ONLY, target.psn(i), b"!" * 40) for i in (1, 2, 3)]
    for packet in bad:
        packet.icrc_xor = 2
    grown = only_counted(target, bad, "rx_drop_icrc")
    if grown.get("kept") or grown.get("nak_seq_sent"):
        raise Failure(f"{grown}")
    send_kept(target, [Packet(target, RC_SEND_ONLY, target.psn(1), b"+" * 40)])
    target.send(Packet(target, RC_SEND_ONLY, target.psn(), b"+" * 30).frame())
    completions(target, 30, 40)
    if bytes.fromhex(target.ask("data"))[:40] != b"+" * 40:
        raise Failure("damaged data")
    target.check("neighbour")


def wrong_rkey(target):
    """A key is checked in its turn, and the connection ends there; what is behind it is never executed."""
    target.new("rc")
    target.check()
    target.ask("post 3")
    send_kept(target, [Packet(target, RC_SEND_ONLY, target.psn(2), b"3" * 30),
                       Packet(target, RC_WRITE_ONLY, target.psn(1), b"w" * 64, reth(target.pair, 64, rkey=4711))])
    if target.ask("state").split()[2] == "6":
        raise Failure("the queue pair is in error too early")
    before = counters()
    target.send(Packet(target, RC_SEND_ONLY, target.psn(), b"1" * 10).frame())
    completions(target, 10)
    answer = target.ask("wc")
    if answer.split()[1] != "5":
        raise Failure(f"{answer}, expected a flushed receive")
    grown = wait_counted(before, "responder_errors", 1)
    if grown.get("kept_dropped") != 1:
        raise Failure(f"{grown}")
    wait_all_dropped("error")
    target.check("neighbour")


def rnr(target):
    """No receive entry for one that was kept: what is behind it has to come again."""
    target.new("rc")
    target.check()
    target.ask("post 1")
    send_kept(target, [Packet(target, RC_SEND_ONLY, target.psn(i), b"s" * 30) for i in (1, 2, 3)])
    before = counters()
    target.send(Packet(target, RC_SEND_ONLY, target.psn(), b"s" * 20).frame())
    completions(target, 20)
    grown = wait_counted(before, "rnr_sent", 1)
    if grown.get("kept_dropped") != 2:
        raise Failure(f"{grown}")
    wait_all_dropped("RNR")
    target.ask("post 3")
    for i in (1, 2, 3):
        target.send(Packet(target, RC_SEND_ONLY, target.psn(i), b"s" * 30).frame())
    completions(target, 30, 30, 30)
    target.check("neighbour")


def have_old_dropped():
    time.sleep(0.7)
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("2")     # objects of shrinkers
    wait_all_dropped("memory is short")


def reclaimed(target):
    """When memory is short, what has been kept for long is given up, and comes again as if it had been lost."""
    target.new("rc")
    target.check()
    target.ask("post 3")
    packets = [Packet(target, RC_SEND_ONLY, target.psn(i), b"r" * (20 + i)) for i in range(3)]
    send_kept(target, packets[1:])
    before = counters()
    have_old_dropped()
    for packet in packets:
        target.send(packet.frame())
    completions(target, 20, 21, 22)
    grown = wait_counted(before, "kept_dropped", 2)
    if grown["kept_dropped"] != 2 or grown.get("kept"):
        raise Failure(f"{grown}")
    target.check("neighbour")


def window(target):
    """What a peer cannot have in flight is not kept; all goes with the queue pair's state."""
    target.new("rc")
    target.check()
    ahead = [*range(1, 2148), *range(32700, 32800)]
    send_kept(target, [Packet(target, RC_SEND_ONLY, target.psn(i), b"f" * 8) for i in ahead], 2147 + 68)
    if not 2215 * 128 < kept_bytes() < 1 << 20:
        raise Failure(f"{kept_bytes()} bytes are kept")
    target.check("neighbour")
    target.ask("reset")
    wait_all_dropped("reset")


class Group:
    """A memory cgroup, to which this process and those that it begins belong meanwhile."""

    root = "/tmp/kept-cgroup"

    def __enter__(self):
        os.makedirs(self.root, exist_ok=True)
        subprocess.run(["mount", "-t", "cgroup2", "cgroup2", self.root], check=True)
        self.write("cgroup.subtree_control", "+memory", "")
        os.mkdir(self.root + "/tenant")
        self.write("cgroup.procs", str(os.getpid()))
        return self

    def __exit__(self, *_):
        self.write("cgroup.procs", str(os.getpid()), "")
        os.rmdir(self.root + "/tenant")
        subprocess.run(["umount", self.root], check=True)

    def write(self, name, text, group="/tenant"):
        with open(self.root + group + "/" + name, "w", encoding="ascii") as file:
            file.write(text)

    def used(self):
        with open(self.root + "/tenant/memory.current", encoding="ascii") as file:
            return int(file.read())


def wait_used(group, low, high):
    end = time.monotonic() + 5
    while not low <= group.used() <= high:
        if time.monotonic() > end:
            raise Failure(f"the cgroup uses {group.used()} bytes, not {low} to {high}")
        time.sleep(0.01)


def paid(target):
    """What a queue pair keeps belongs to the cgroup of its owner, whose limit holds, and harms no others."""
    with Group() as group:
        tenant = Target(target.ns_a, target.ns_b, target.family)
        try:
            tenant.new("rc")
            tenant.check()
            before = group.used()
            packets = [Packet(tenant, RC_SEND_ONLY, tenant.psn(i), b"p" * 1024) for i in range(1, 1001)]
            send_kept(tenant, packets)
            # Some was charged before: up to 64 pages in stock on each CPU.
            wait_used(group, before + 1000 * 2048 * 2 // 3, before + 1000 * 2048 * 3)
            tenant.ask("reset")
            wait_used(group, 0, before + 256 * 1024)
            # Half as much as it takes, of which this process needs some.
            tenant.new("rc")
            tenant.check()
            frames = [Packet(tenant, RC_SEND_ONLY, tenant.psn(i), b"p" * 1024).frame() for i in range(1, 2001)]
            group.write("memory.max", str(group.used() + (2 << 20)))
            since = counters()
            for frame in frames:
                tenant.send(frame)
            grown = wait_counted(since, "rx_packets", 2000)
            if not 300 < grown["kept"] < 1600 or grown["kept"] + grown["rx_drop_psn"] != 2000:
                raise Failure(f"{grown}")
            target.new("rc")
            target.check()
            send_kept(target, [Packet(target, RC_SEND_ONLY, target.psn(i), b"o" * 1024) for i in range(1, 1001)])
            group.write("memory.max", "max")
        finally:
            tenant.process.stdin.close()
            tenant.process.wait()
    target.ask("reset")
    wait_all_dropped("reset")


def in_time(once):
    """A case that is tried until it did not take so long that what was young has become old."""
    def run(target):
        for _ in range(10):
            if once(target):
                return
        raise Failure("the machine is too slow to tell young from old")
    run.__name__ = once.__name__
    return run


def ahead(target):
    """999 packets ahead of the expected one, 2 KB each once kept: what has grown; None if they may have become old."""
    target.new("rc")
    target.check()
    frames = [Packet(target, RC_SEND_ONLY, target.psn(i), b"f" * 1024).frame() for i in range(1, 1000)]
    before = counters()
    began = time.monotonic()
    for frame in frames:
        target.send(frame)
    slow = time.monotonic() - began > 0.4
    grown = wait_counted(before, "rx_packets", 999)
    return None if slow else grown


def young_one(target):
    """Another queue pair that expects two messages."""
    target.new("rc")
    target.check()
    target.ask("post 2")


@in_time
def flood(target):
    """Peers that send nothing but what is ahead get a part of the bound each, together no more, and harm nobody."""
    have_old_dropped()
    with Switched("keep_mb", 1):
        shares = []
        for _ in range(4):
            grown = ahead(target)
            if not grown:
                return False
            if grown["kept"] + grown["rx_drop_psn"] != 999 or grown["nak_seq_sent"] != 1:
                raise Failure(f"{grown}")
            shares.append(grown["kept"])
            if kept_bytes() > 1 << 20:
                raise Failure(f"{kept_bytes()} bytes are kept")
            target.check("neighbour")
        # The first ones may have been given up for the last ones.
        if not 200 < shares[0] < 300 or min(shares) < 10:
            raise Failure(f"shares of 512: {shares}")
        # Another one has its part, too.
        young_one(target)
        send_kept(target, [Packet(target, RC_SEND_ONLY, target.psn(1), b"o" * 40)])
        target.send(Packet(target, RC_SEND_ONLY, target.psn(), b"o" * 30).frame())
        completions(target, 30, 40)
    return True


@in_time
def forgotten(target):
    """When the bound is reached, what peers never ask for again makes room for others, and what is young stays."""
    have_old_dropped()
    with Switched("keep_mb", 1):
        before = counters()
        # 2 KB each. No pair asks for more than it may have, half of what is left: that would make room already.
        numbers = (240, 110, 50, 25)
        for number in numbers:
            target.new("rc")
            target.check()
            send_kept(target, [Packet(target, RC_SEND_ONLY, target.psn(i), b"f" * 1024) for i in range(1, number + 1)])
        time.sleep(0.7)
        young_one(target)
        young = counters()
        began = time.monotonic()
        target.send(Packet(target, RC_SEND_ONLY, target.psn(1), b"o" * 40).frame())
        # Those that find no room have it made.
        for i in range(2, 70):
            target.send(Packet(target, RC_WRITE_ONLY, target.psn(i), b"o" * 1024, reth(target.pair, 1024)).frame())
        if time.monotonic() - began > 0.4:
            return False
        wait_counted(before, "kept_dropped", sum(numbers))
        for i in range(70, 140):
            target.send(Packet(target, RC_WRITE_ONLY, target.psn(i), b"o" * 1024, reth(target.pair, 1024)).frame())
        grown = wait_counted(young, "rx_packets", 139)
        if not 80 <= grown["kept"] < 139 or grown["kept_dropped"] != sum(numbers):
            raise Failure(f"{grown}")
        # It would have been dropped with the old ones.
        target.send(Packet(target, RC_SEND_ONLY, target.psn(), b"o" * 30).frame())
        completions(target, 30, 40)
        target.check("neighbour")
    return True


@in_time
def host_bound(target):
    """All links together keep no more than the host allows, and what is old makes room."""
    have_old_dropped()
    with Switched("../keep_mb", 1):
        before = counters()
        grown = ahead(target)
        if not grown:
            return False
        if not 400 < grown["kept"] <= 512 or kept_bytes() > 1 << 20:
            raise Failure(f"{grown}, {kept_bytes()} bytes are kept")
        target.check("neighbour")
        time.sleep(0.7)
        young_one(target)
        young = counters()
        # The first one finds no room, and has it made.
        target.send(Packet(target, RC_SEND_ONLY, target.psn(1), b"o" * 40).frame())
        wait_counted(before, "kept_dropped", grown["kept"])
        target.send(Packet(target, RC_SEND_ONLY, target.psn(1), b"o" * 40).frame())
        wait_counted(young, "kept", 1)
        target.send(Packet(target, RC_SEND_ONLY, target.psn(), b"o" * 30).frame())
        completions(target, 30, 40)
    return True


CASES = (
    all_kinds,
    writes_in_order,
    again,
    damaged,
    wrong_rkey,
    rnr,
    reclaimed,
    window,
    paid,
    flood,
    forgotten,
    host_bound,
)


def main():
    ns_a, ns_b, family = sys.argv[1:]
    report = tap.Tap(len(CASES) + 1)
    target = Target(ns_a, ns_b, family)
    run_cases(report, target, "kept", {case.__name__: case for case in CASES})
    try:
        wait_all_dropped("exit")
        report.case("kept.nothing_at_exit", True)
    except Failure as error:
        report.case("kept.nothing_at_exit", False, error)
    sys.exit(report.done())


if __name__ == "__main__":
    main()
