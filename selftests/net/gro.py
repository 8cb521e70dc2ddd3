#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Send bursts of single packets, and look how many frames arrive, and whether all of them do, in order.

usage: gro.py NAMESPACE-A NAMESPACE-B MAC-OF-ROUTER FAMILY

Packets are built here as in inject.py. They leave namespace A through a packet socket on "ea", and a router that
collects them delivers them to nlb in one NAPI poll. Prints TAP.
"""

import functools
import os
import struct
import sys

from checksum import checksum
from inject import Failure, Packet, Target, aeth, counters, deth, run_cases, wait_counted
from inject import RC_ACK, RC_SEND_FIRST, RC_SEND_LAST, RC_SEND_MIDDLE, RC_SEND_ONLY, UD_SEND_ONLY

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "lib"))

import tap

DF = 0x4000


class Single(Packet):
    """A packet whose IP and UDP headers can be chosen."""

    def __init__(self, target, opcode, psn, payload=b"", ext=b"", **fields):
        super().__init__(target, opcode, psn, payload, ext)
        self.mac_dst = target.router
        self.ack = 0
        self.ident, self.flags4, self.tos, self.sum, self.sum_xor, self.label = psn, DF, 0, False, 0, 0
        for name, value in fields.items():
            setattr(self, name, value)

    def headers(self, udp_len):
        ip, udp = super().headers(udp_len)
        if len(ip) == 20:
            return ip[:1] + struct.pack(">BHHH", self.tos, 20 + udp_len, self.ident & 0xffff, self.flags4) + ip[8:], udp
        return struct.pack(">I", 0x60000000 | self.tos << 20 | self.label) + ip[4:], udp

    def frame(self):
        data = bytearray(super().frame())
        udp = 34 if len(self.src) == 4 else 54
        data[udp + 6:udp + 8] = bytes(2)
        if self.sum:
            ends = self.src + self.dst + struct.pack(">IHBB", len(data) - udp, 0, 0, 17)
            data[udp + 6:udp + 8] = struct.pack(">H", (checksum(ends + bytes(data[udp:])) or 0xffff) ^ self.sum_xor)
        return bytes(data)


class Split(Failure):
    """Packets came in more frames than they should: perhaps netem's slot of 100 ms ended between them."""


def again_if_split(case):
    """The same case, which may be split twice, as this process may get no CPU for so long on a busy machine."""
    @functools.wraps(case)
    def patient(target):
        for _ in range(2):
            try:
                return case(target)
            except Split:
                pass
        return case(target)
    return patient


def burst(target, packets, frames, **expected):
    """Send them in one burst: they arrive in so many frames, and each packet is counted."""
    before = counters()
    for packet in packets:
        target.send(packet.frame())
    grown = wait_counted(before, "rx_packets", len(packets))
    expected.update(rx_packets=len(packets), rx_frames=frames)
    if grown.get("rx_frames", 0) > frames:
        raise Split(f"{grown['rx_frames']} frames, expected {frames}; all: {grown}")
    for name, value in grown.items():
        watched = name in expected or name.startswith("rx_drop") or name in ("nak_seq_sent", "duplicates")
        if watched and value != expected.get(name, 0):
            raise Failure(f"{name} has grown by {value}, expected {expected.get(name, 0)}; all: {grown}")


def datagrams(target, number, **fields):
    """Datagrams that follow each other; each is as long as the others."""
    target.new("ud")
    target.ask(f"post {number}")
    return [Single(target, UD_SEND_ONLY, i, bytes([65 + i]) * 100, deth(src=target.pair["qpn_a"]), **fields)
            for i in range(number)]


def arrive(target, lengths):
    """Receives complete with these lengths, in this order."""
    for length in lengths:
        answer = target.ask("wc")
        if answer != f"wc 0 {length}":
            raise Failure(f"{answer}, expected {length} bytes")


def message(target, number, last=1024):
    """A message of so many packets, the last one so long. It asks for an acknowledgement at its end."""
    target.new("rc")
    target.ask("post 1")
    packets = [Single(target, RC_SEND_MIDDLE, target.psn(i), bytes([65 + i]) * 1024) for i in range(number)]
    packets[0].opcode, packets[-1].opcode = RC_SEND_FIRST, RC_SEND_LAST
    packets[-1].payload, packets[-1].ack = b"z" * last, 1
    return packets


def message_is(target, number, last=1024):
    arrive(target, [1024 * (number - 1) + last])
    if b"A" * 64 not in bytes.fromhex(target.ask("data")):
        raise Failure("other data arrived")


def whole(target):
    """Packets of a message are one frame."""
    burst(target, message(target, 8), 1)
    message_is(target, 8)


def with_checksums(target):
    packets = message(target, 8)
    for packet in packets:
        packet.sum = True
    burst(target, packets, 1)
    message_is(target, 8)


def some_with_checksums(target):
    """As a stack cuts super-packets, and sends the rest without."""
    packets = message(target, 8)
    for packet in packets[:4]:
        packet.sum = True
    packets[-1].sum = True
    burst(target, packets, 1)
    message_is(target, 8)


def short_last(target):
    burst(target, message(target, 5, 20), 1)
    message_is(target, 5, 20)


def limit(target):
    """64 packets of equal length, then a second frame."""
    target.new("rc")
    burst(target, [Single(target, RC_SEND_ONLY, i, b"s" * 64, qpn=0xffff00) for i in range(70)], 2, rx_drop_no_qp=70)


def size(target):
    """IP counts 65,535 bytes: 31 packets of 2064 bytes, then a second frame."""
    target.new("rc")
    burst(target, [Single(target, RC_SEND_ONLY, i, b"s" * 2048, qpn=0xffff00) for i in range(40)], 2, rx_drop_no_qp=40)


def longer(target):
    packets = datagrams(target, 6)
    for packet in packets[3:]:
        packet.payload *= 2
    burst(target, packets, 2)
    arrive(target, [140] * 3 + [240] * 3)


def shorter(target):
    """The first shorter packet ends a frame."""
    packets = datagrams(target, 6)
    for packet in packets[3:]:
        packet.payload = packet.payload[:40]
    burst(target, packets, 2)
    arrive(target, [140] * 3 + [80] * 3)


def gap(target):
    """A lost packet: those behind it come behind those before it, and one NAK asks for it."""
    packets = message(target, 8)
    del packets[4]
    burst(target, packets, 2, nak_seq_sent=1, kept=3)


def swapped(target):
    packets = datagrams(target, 6)
    packets[2], packets[3] = packets[3], packets[2]
    for packet, length in zip(packets, (10, 12, 14, 16, 18, 20)):
        packet.payload = packet.payload[:4 * length]
    burst(target, packets, 6)
    arrive(target, [40 + 4 * length for length in (10, 12, 14, 16, 18, 20)])


def acknowledged(target):
    """A packet that asks for an answer is not held for others."""
    packets = message(target, 8)
    packets[3].ack = 1
    burst(target, packets, 2)
    message_is(target, 8)


def strangers(target):
    """Packets for another queue pair neither end a frame nor enter it."""
    packets = []
    for i, packet in enumerate(message(target, 6)):
        packets += [packet, Single(target, RC_SEND_ONLY, 77 + i, b"s" * 1024, qpn=0xffff00)]
    burst(target, packets, 2, rx_drop_no_qp=6)
    message_is(target, 6)


def other_sender(target):
    """Another UDP port is another flow."""
    packets = []
    for i, packet in enumerate(message(target, 6)):
        packets += [packet, Single(target, RC_SEND_ONLY, 77 + i, b"s" * 1024, qpn=0xffff00, sport=0xd001)]
    burst(target, packets, 2, rx_drop_no_qp=6)
    message_is(target, 6)


def answers_between(target):
    """An ACK is never held, and passes nothing."""
    packets = message(target, 6)
    packets.insert(3, Single(target, RC_ACK, target.psn(-5), b"", aeth(0)))
    burst(target, packets, 3, rx_drop_stale_ack=1)
    message_is(target, 6)


def next_message(target):
    """The next message belongs to the same frame, though its packet is shorter."""
    packets = message(target, 4)
    target.ask("post 1")
    packets[-1].ack = 0
    packets.append(Single(target, RC_SEND_ONLY, target.psn(4), b"", ack=1))
    burst(target, packets, 1)
    arrive(target, [4096, 0])


def damaged(target):
    """Only the damaged packet is lost."""
    packets = datagrams(target, 6)
    packets[2].icrc_xor = 1
    burst(target, packets, 1, rx_drop_icrc=1)
    arrive(target, [140] * 5)


def bad_checksum(target):
    """IP drops it."""
    packets = datagrams(target, 6, sum=True)
    packets[2].sum_xor = 0x1000
    before = counters()
    for packet in packets:
        target.send(packet.frame())
    arrive(target, [140] * 5)
    grown = wait_counted(before, "rx_packets", 5)
    if grown["rx_packets"] != 5 or grown["rx_frames"] != 2:
        raise Failure(f"{grown}")


def same_ident(target):
    burst(target, datagrams(target, 6, ident=0), 1)
    arrive(target, [140] * 6)


def same_ident_fragmentable(target):
    """Without DF, identifications tell datagrams apart: these are not one super-packet."""
    burst(target, datagrams(target, 6, ident=0, flags4=0), 6)
    arrive(target, [140] * 6)


def other_idents(target):
    """What would not have its ICRC any more is not merged."""
    packets = datagrams(target, 8)
    for packet, ident in zip(packets, (5, 5, 6, 7, 9, 10, 10, 0)):
        packet.ident = ident
    burst(target, packets, 5)
    arrive(target, [140] * 8)


def ident_wraps(target):
    packets = datagrams(target, 6)
    for i, packet in enumerate(packets):
        packet.ident = 0xfffd + i
    burst(target, packets, 1)
    arrive(target, [140] * 6)


def marked(target):
    """A mark of congestion is that of the packets that have it."""
    packets = datagrams(target, 6)
    for packet in packets[2:4]:
        packet.tos = 3
    burst(target, packets, 3)
    arrive(target, [140] * 6)


def other_label(target):
    packets = datagrams(target, 6)
    for packet in packets[3:]:
        packet.label = 7
    burst(target, packets, 2)
    arrive(target, [140] * 6)


def psn_wraps(target):
    packets = datagrams(target, 6)
    for i, packet in enumerate(packets):
        packet.psn = 0xfffffd + i
    burst(target, packets, 1)
    arrive(target, [140] * 6)


BOTH = (whole, with_checksums, some_with_checksums, short_last, limit, size, longer, shorter, gap, swapped, acknowledged,
        strangers, other_sender, answers_between, next_message, damaged, bad_checksum, marked,
        psn_wraps)
CASES = {"4": BOTH + (same_ident, same_ident_fragmentable, other_idents, ident_wraps),
         "6": BOTH + (other_label,)}


def main():
    ns_a, ns_b, router, family = sys.argv[1:]
    report = tap.Tap(len(CASES[family]))
    target = Target(ns_a, ns_b, family)
    target.router = bytes.fromhex(router.replace(":", ""))
    run_cases(report, target, "gro", {case.__name__: again_if_split(case) for case in CASES[family]})
    sys.exit(report.done())


if __name__ == "__main__":
    main()
