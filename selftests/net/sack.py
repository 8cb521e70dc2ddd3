#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Ask for selective acknowledgements, and look at them byte for byte.

usage: sack.py NAMESPACE-A NAMESPACE-B FAMILY
"""
import os
import struct
import sys
import time

from inject import ETH_P_ALL, Failure, Packet, RC_READ, RC_SEND_ONLY, SACK, SACK_ASK, Switched, Target, aeth, change
from inject import counters, dropped, heard, only_counted, parted, run_cases, wait_counted

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "lib"))

import tap

QUESTION = b"hroc\1\0\0\0"
SEQUENCE_NAK = 0x60
NO_CREDITS = 0x1f
ACK = 0x11
READ_RESPONSE_FIRST, READ_RESPONSE_LAST = 0x0d, 0x0f


class Asker:
    """A peer that lacks nothing but what it does not send."""

    def __init__(self, target):
        target.new("rc")
        target.check()
        self.target = target
        self.socket = target.socket_in(target.ns_a, "ea", ETH_P_ALL)

    def ask(self, payload=QUESTION, **fields):
        packet = Packet(self.target, SACK_ASK, self.target.psn(), payload)
        change(**fields)(self.target, packet)
        return packet

    def send(self, *ahead):
        """SENDs, so many ahead of the expected one; each is taken before the next."""
        for i in ahead:
            before = counters()
            packet = Packet(self.target, RC_SEND_ONLY, self.target.psn(i), b"s" * 40)
            packet.ack = 1
            self.target.send(packet.frame())
            wait_counted(before, "rx_packets", 1)

    def answers(self, number):
        """The last @number acknowledgements that have come, as (opcode, PSN, syndrome, payload)."""
        found = []
        end = time.monotonic() + 5
        while time.monotonic() < end and len(found) < number:
            for ip, length in heard(self.socket, self.target.mac_b):
                if ip[length + 8] not in (SACK, ACK):
                    continue
                transport, right = parted(ip, length)
                if not right:
                    raise Failure(f"wrong ICRC: {ip.hex()}")
                opcode, _, _, qpn, psn, aeth = struct.unpack(">BBHIII", transport[:16])
                if qpn != self.target.pair["qpn_a"]:
                    continue
                found.append((opcode, psn & 0xffffff, aeth >> 24, transport[16:]))
                if len(found) == number:
                    return found
            time.sleep(0.005)
        return found


def map_of(expected, kept):
    """What the peer says if it expects one PSN and keeps others."""
    base = expected & ~63
    distances = [(psn - base) & 0xffffff for psn in kept]
    bits = sum(1 << distance for distance in distances)
    return bits.to_bytes((max(distances) // 64 + 1) * 8, "little")


def asked(target):
    """The question, a new gap, what asks for an answer, and what fills a gap: each is told, with all that is kept."""
    peer = Asker(target)
    psn = target.psn
    target.ask("post 8")
    before = counters()
    target.send(peer.ask().frame())
    wait_counted(before, "rx_packets", 1)
    peer.send(1)
    peer.send(3)
    peer.send(4, 200)
    peer.send(0)
    wanted = [
        (SACK, psn(-1), NO_CREDITS, b""),
        (SACK, psn(0), SEQUENCE_NAK, map_of(psn(0), [psn(1)])),
        (SACK, psn(0), SEQUENCE_NAK, map_of(psn(0), [psn(1), psn(3)])),
        (SACK, psn(0), SEQUENCE_NAK, map_of(psn(0), [psn(1), psn(3), psn(4)])),
        (SACK, psn(0), SEQUENCE_NAK, map_of(psn(0), [psn(1), psn(3), psn(4), psn(200)])),
        (SACK, psn(2), SEQUENCE_NAK, map_of(psn(2), [psn(3), psn(4), psn(200)])),
    ]
    found = peer.answers(len(wanted))
    if found != wanted:
        raise Failure(f"{found}, expected {wanted}")
    grown = wait_counted(before, "sack_sent", len(wanted) - 1)
    if grown["kept"] != 4 or grown["nak_seq_sent"] != 2 or grown.get("sack_rcvd"):
        raise Failure(f"{grown}")
    target.check("neighbour")


def without(peer, question=None, counter="rx_packets"):
    """After that question, or none, a gap draws a NAK as the specification has it."""
    if question:
        only_counted(peer.target, [question], counter)
    before = counters()
    peer.send(2, 4)
    found = peer.answers(1)
    if found != [(ACK, peer.target.psn(0), SEQUENCE_NAK, b"")]:
        raise Failure(f"{found}")
    if wait_counted(before, "kept", 2).get("sack_sent"):
        raise Failure("told, but not asked for")
    peer.target.check("neighbour")


def unasked(target):
    without(Asker(target))


def ignored(counter, **fields):
    """A case: a question that @counter counts and nobody answers."""
    def run(target):
        peer = Asker(target)
        without(peer, peer.ask(**fields), counter)
    return run


def from_a_stranger(target):
    peer = Asker(target)
    without(peer, peer.ask(src=target.ip_a[:-1] + b"\x4d"), "rx_drop_peer")


def switched_off(target):
    with Switched("sack", "N"):
        ignored("rx_drop_opcode")(target)


def unwanted(counter, **fields):
    """A case: maps for who sends nothing, or does not know them."""
    aeth = struct.pack(">I", SEQUENCE_NAK << 24)
    return dropped("rc", counter, change(opcode=SACK, **{"ext": aeth, "payload": b"\xff" * 256, **fields}))


def answers_switched_off(target):
    with Switched("sack", "N"):
        unwanted("rx_drop_opcode")(target)


def read_in_parts(target):
    """A READ goes on over a new path: a part of the answer was asked for apart before, and the rest is still kept."""
    target.new("rc")
    target.ask("reset")         # whose answers come from here
    requests = target.socket_in(target.ns_a, "ea", ETH_P_ALL)

    def answer(opcode, number):
        packet = Packet(target, opcode, target.psn(number), b"%d" % number * 1024, aeth(NO_CREDITS, 1))
        packet.mac_dst, packet.mac_src = target.mac_a, target.mac_b
        packet.src, packet.dst, packet.qpn = target.ip_b, target.ip_a, target.pair["qpn_a"]
        target.socket_b.send(packet.frame())

    def asked_for(number, length):
        wanted = (RC_READ, target.psn(number), length)
        end = time.monotonic() + 5
        while time.monotonic() < end:
            for ip, start in heard(requests, target.mac_a):
                opcode, psn, dmalen = struct.unpack(">B7xI12xI", parted(ip, start)[0].ljust(28)[:28])
                if (opcode, psn & 0xffffff, dmalen) == wanted:
                    return
            time.sleep(0.005)
        raise Failure(f"{wanted} was not asked for")

    target.ask("read 4096")
    asked_for(0, 4096)
    answer(READ_RESPONSE_FIRST, 0)
    answer(READ_RESPONSE_LAST, 3)
    asked_for(1, 2048)
    target.ask("path")
    answer(READ_RESPONSE_FIRST, 1)
    answer(READ_RESPONSE_LAST, 2)
    found = target.ask("reuse 1")
    if found != "done 0":
        raise Failure(f"{found}")
    target.check("neighbour")


CASES = {
    "asked": asked,
    "read_in_parts": read_in_parts,
    "unasked": unasked,
    "other_question": ignored("rx_drop_opcode", payload=b"hroc\2\0\0\0"),
    "short_question": ignored("rx_drop_opcode", payload=b"hroc"),
    "empty_question": ignored("rx_drop_opcode", payload=b""),
    "long_question": ignored("rx_drop_length", payload=QUESTION + b"\0" * 300),
    "damaged_question": ignored("rx_drop_icrc", icrc_xor=1),
    "question_of_a_stranger": from_a_stranger,
    "question_of_other_pkey": ignored("rx_drop_pkey", pkey=0x9234),
    "question_for_nobody": ignored("rx_drop_no_qp", qpn=0xfffff1),
    "questions_switched_off": switched_off,
    "question_to_ud": dropped("ud", "rx_drop_opcode", change(opcode=SACK_ASK, ext=b"", payload=QUESTION)),
    "question_to_uc": dropped("uc", "rx_drop_opcode", change(opcode=SACK_ASK, ext=b"", payload=QUESTION)),
    "map_to_ud": dropped("ud", "rx_drop_opcode", change(opcode=SACK, ext=b"\0" * 4, payload=b"\xff" * 256)),
    "map_to_uc": dropped("uc", "rx_drop_opcode", change(opcode=SACK, ext=b"\0" * 4, payload=b"\xff" * 256)),
    "map_of_nothing": unwanted("rx_drop_stale_ack"),
    "map_too_long": unwanted("rx_drop_length", payload=b"\xff" * 260),
    "empty_map": unwanted("rx_drop_stale_ack", payload=b""),
    "map_cut_off": unwanted("rx_drop_short", ext=b"", payload=b""),
    "damaged_map": unwanted("rx_drop_icrc", icrc_xor=1),
    "map_to_ud": dropped("ud", "rx_drop_opcode", change(opcode=SACK, ext=b"\x60\0\0\0", payload=b"\xff" * 64)),
    "maps_switched_off": answers_switched_off,
}


def main():
    ns_a, ns_b, family = sys.argv[1:]
    report = tap.Tap(len(CASES))
    run_cases(report, Target(ns_a, ns_b, family), "sack", CASES)
    sys.exit(report.done())


if __name__ == "__main__":
    main()
