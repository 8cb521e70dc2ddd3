#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Compare how fast a queue pair is while packets for another one are kept behind a gap, and while they are dropped.

usage: others.py NAMESPACE-A NAMESPACE-B FAMILY

The neighbour of the target of inject.py writes; for each MEGABYTE, PACKETS arrive for the target, as a super-packet.
They are the same each time, and as many, but:

    dropped    name a queue pair that does not exist, so nothing is done for them
    kept       are ahead of the expected one, each is kept
    full       likewise, and there is no room, so each is dropped after a look

The machine may have one CPU, which others use, too. So short pieces of each kind alternate, and lower quartiles of
their times are compared. The same is done with "dropped" and itself: if these differ, the machine cannot tell. Prints
TAP.
"""

import os
import statistics
import struct
import sys
import time

from inject import Failure, Packet, RC_SEND_ONLY, SCALE, Switched, Target, counters

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "lib"))

import tap

SOL_PACKET, PACKET_VNET_HDR = 263, 15
MEGABYTE = 16               # WRITEs of 64 KB
PACKETS = 56                # of 1 KB, no more fit into a super-packet
STEPS, PER_STEP = 4, 4      # pieces of four times 4 MB
NOBODY = 0xfffff1
ROUNDS, ATTEMPTS = 11, 3
# Of a comparison, and of all for one kind.
SECONDS, ALL_SECONDS = 20, 50
# The share of their speed that others keep is 0.9; noise has its part of what may be missing.
SHARE, NOISE = 0.8, 0.07


def burst(target, first, qpn):
    """A super-packet of SENDs, with the header that a packet socket wants in front of it."""
    data = b""
    head = None
    for i in range(PACKETS):
        packet = Packet(target, RC_SEND_ONLY, target.psn(first + i), b"f" * 1024)
        packet.qpn = qpn
        packet.ident = 0x1000 + i
        transport = packet.transport()
        size = len(transport) + 4
        ip, udp = packet.headers(8 + size)
        data += transport + struct.pack("<I", packet.icrc(ip, udp, transport))
        head = head or packet
    ip, udp = head.headers(8 + len(data))
    # struct virtio_net_hdr: checksum needed, VIRTIO_NET_HDR_GSO_UDP_L4
    return struct.pack("=BBHHHH", 1, 5, 42, size, 34, 6) + head.wrap(ip, udp, data)


class Piece:
    """One kind of flood, and the times that pieces with it took."""

    def __init__(self, target, kind):
        self.target = target
        self.kind = kind
        self.times = []
        self.counted = {"dropped": "rx_drop_no_qp", "kept": "kept", "full": "rx_drop_psn"}[kind]
        self.frames = []

    def run(self):
        target = self.target
        target.new("rc")
        target.check()
        if not self.frames or self.kind != "dropped":
            qpn = NOBODY if self.kind == "dropped" else target.pair["qpn_b"]
            self.frames = [burst(target, 1 + i * PACKETS, qpn) for i in range(STEPS * PER_STEP)]
        if self.kind == "full":
            with Switched("keep_mb", 0):
                self.measure()
        else:
            self.measure()
        # What is kept goes.
        target.ask("reset")

    def measure(self):
        before = counters()
        self.target.socket.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
        frames = iter(self.frames)
        began = time.monotonic()
        for _ in range(STEPS):
            self.target.tell(f"stream {MEGABYTE * PER_STEP}")
            for _ in range(PER_STEP):
                self.target.socket.send(next(frames))
            if self.target.hear("stream") != "done":
                raise Failure("the neighbour does not write")
        self.times.append(time.monotonic() - began)
        self.target.socket.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 0)
        now = counters()
        grown = now[self.counted] - before[self.counted]
        # The first one asks for what is missing.
        if not STEPS * PER_STEP * PACKETS - 1 <= grown <= STEPS * PER_STEP * PACKETS:
            raise Failure(f"{self.kind}: {self.counted} has grown by {grown}")

    def time(self):
        return statistics.quantiles(self.times, n=4)[0]


def compare(target, kind):
    """Return the share of the speed with "dropped" that is left, and the same of "dropped" itself."""
    pieces = [Piece(target, "dropped"), Piece(target, kind), Piece(target, "dropped")]
    end = time.monotonic() + SECONDS * SCALE
    for i in range(ROUNDS):
        for piece in pieces[i % 3:] + pieces[:i % 3]:
            piece.run()
        if time.monotonic() > end and i >= 4:
            break
    one, this, other = [piece.time() for piece in pieces]
    print(f"# {kind}: {statistics.mean((one, other)) / this:.3f} of the speed; dropped {1e3 * one:.1f} and"
          f" {1e3 * other:.1f} ms, {kind} {1e3 * this:.1f} ms, {len(pieces[0].times)} times", flush=True)
    return statistics.mean((one, other)) / this, one / other


def watched():
    """Whether the kernel watches its memory (KASAN): to keep a packet, which is an allocation, costs far more then."""
    with open("/proc/kallsyms", encoding="ascii") as symbols:
        return any(symbol.endswith(" kasan_report\n") for symbol in symbols)


def judge(report, target, kind):
    name = f"others.{kind}_ipv{target.family}"
    end = time.monotonic() + ALL_SECONDS * SCALE
    judged = 0
    for _ in range(ATTEMPTS):
        share, same = compare(target, kind)
        if abs(same - 1) <= NOISE:
            judged += 1
            if share >= SHARE:
                report.case(name, True)
                return
        if time.monotonic() > end:
            break
    # One that is slow by chance is not so each time; slow machines have time for two.
    bad = judged >= 2 and not watched()
    report.case(name, not bad, skip="" if bad else "the machine is too slow or too noisy to compare speeds")


def main():
    ns_a, ns_b, family = sys.argv[1:]
    report = tap.Tap(2)
    target = Target(ns_a, ns_b, family)
    for kind in ("kept", "full"):
        try:
            judge(report, target, kind)
        except (Failure, OSError) as error:
            report.case(f"others.{kind}_ipv{family}", False, error)
    target.process.stdin.close()
    target.process.wait()
    sys.exit(report.done())


if __name__ == "__main__":
    main()
