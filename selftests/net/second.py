#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Play a hostile peer that is asked for its second address, and look at what the other end sends, and where.

usage: second.py NAMESPACE-A NAMESPACE-B FAMILY

The links nlb (on eb) and nld (on ed) of namespace B have each other as second link, those of A have none. Packets are
built here, as inject.py does, and leave A through packet sockets on ea and ec.
"""
import os
import socket
import struct
import sys
import time

from inject import ETH_P_ALL, Failure, Packet, RC_SEND_ONLY, Target, change, counters, dropped, heard, only_counted, parted
from inject import run_cases, wait_counted

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "lib"))

import tap

ASK, ANSWER = 0xc4, 0xc5
ACK = 0x11
MAGIC = b"hroc\1\0\0\0"
OWN, PEER, VICTIM = "10.91.0.1", "10.91.0.2", "10.91.0.77"


def question(token):
    return MAGIC + bytes(24) + token


def answer(token, address, qpn):
    return MAGIC + mapped(address) + struct.pack(">II", qpn, 0) + token


def mapped(address):
    if ":" in address:
        return socket.inet_pton(socket.AF_INET6, address)
    return bytes(10) + b"\xff\xff" + socket.inet_aton(address)


class Seen:
    """A packet from B, or the first of a super-packet: opcode, numbers, source, destination, payload."""

    def __init__(self, ip):
        transport, right = parted(ip, 20)
        self.opcode, _, _, self.qpn, psn = struct.unpack(">BBHII", transport[:12])
        # Others may be super-packets.
        if self.opcode in (ASK, ANSWER, ACK) and not right:
            raise Failure(f"wrong ICRC: {ip[:100].hex()}")
        self.psn = psn & 0xffffff
        self.src, self.dst = socket.inet_ntoa(ip[12:16]), socket.inet_ntoa(ip[16:20])
        self.payload = transport[12:]

    def __repr__(self):
        return f"{self.opcode:#x} to {self.dst}:{self.qpn:#x}"


class Peer:
    """It has a queue pair of nlb, and hears all that B sends by both ways."""

    number = 0x123456

    def __init__(self, target):
        # Queue pairs of cases before still ask.
        Peer.number += 1
        self.number = Peer.number
        self.target = target
        self.first = target.socket_in(target.ns_a, "ea", ETH_P_ALL)
        self.second = target.socket_in(target.ns_a, "ec", ETH_P_ALL)
        self.macs = Target.mac(target.ns_a, "ec"), Target.mac(target.ns_b, "ed")
        self.out = target.socket_in(target.ns_a, "ec")
        target.new("rc")
        self.told = None

    def hear(self, sock, seconds, wanted=None):
        """What B sends to this peer meanwhile, or until @wanted is true of a packet."""
        mac = self.target.mac_b if sock is self.first else self.macs[1]
        found = []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for ip, length in heard(sock, mac):
                if length != 20:
                    continue
                seen = Seen(ip)
                if seen.qpn != (self.target.pair["qpn_a"] if sock is self.first else self.number):
                    continue
                found.append(seen)
                if wanted and wanted(seen):
                    return found
            time.sleep(0.002)
        return found

    def send(self, opcode, payload, second=False, psn=0, **fields):
        packet = Packet(self.target, opcode, psn, payload)
        packet.ack = int(opcode == RC_SEND_ONLY)
        if second:
            packet.mac_src, packet.mac_dst = self.macs
            packet.src, packet.dst = socket.inet_aton(OWN), socket.inet_aton(PEER)
            packet.qpn = self.alias()
        change(**fields)(self.target, packet)
        frame = packet.frame()
        (self.out if second else self.target.socket).send(frame + bytes(max(0, 60 - len(frame))))

    def one(self, sock, opcode):
        """The next packet with that opcode."""
        found = self.hear(sock, 5, lambda seen: seen.opcode == opcode)
        if not found or found[-1].opcode != opcode:
            raise Failure(f"no {opcode:#x} in {found}")
        return found[-1]

    def ask(self):
        """What B tells."""
        self.send(ASK, question(b"12345678"))
        self.told = self.one(self.first, ANSWER)
        return self.told

    def alias(self):
        if self.told is None:
            self.ask()
        return struct.unpack(">I", self.told.payload[24:28])[0]

    def token(self):
        """Of the last question that B has asked by the first way; the peer's own question makes it ask."""
        time.sleep(0.05)
        self.hear(self.first, 0.02)
        self.send(ASK, question(b"abcdefgh"))
        asked = self.one(self.first, ASK)
        # It asks by itself, too: the first three seconds.
        return ([asked] + [seen for seen in self.hear(self.first, 0.02) if seen.opcode == ASK])[-1].payload[32:]

    def prove(self, asked, psn):
        """Answer @asked by the second way. Return the ACK of a request that is sent there then."""
        for _ in range(5):
            self.send(ANSWER, answer(asked.payload[32:], OWN, self.number), True)
            self.send(RC_SEND_ONLY, b"x" * 100, True, psn)
            found = self.hear(self.second, 5, lambda seen: seen.opcode in (ACK, ASK))
            if found and found[-1].opcode == ACK:
                return found[-1]
            if not found or found[-1].opcode != ASK:
                break
            # Another question, so the answer to the one before came too late: each second has its own.
            asked = found[-1]
        raise Failure(f"no ACK in {found}")

    def agree(self, address=OWN, before=None):
        """Return B's question by the second way; @before is called with the token."""
        for _ in range(3):
            token = self.token()
            if before:
                before(token)
            self.send(ANSWER, answer(token, address, self.number))
            found = self.hear(self.second, 0.5, lambda seen: seen.opcode == ASK)
            if found:
                return found[-1]
        raise Failure("B does not ask by the second way")


def tells(target):
    """The answer, byte for byte."""
    peer = Peer(target)
    told = peer.ask()
    if told.payload[:24] != MAGIC + mapped(PEER) or told.payload[28:] != bytes(4) + b"12345678":
        raise Failure(told.payload.hex())
    if not 16 <= peer.alias() < 0xffffff or peer.alias() == target.pair["qpn_b"] or told.psn or told.src == PEER:
        raise Failure(f"{told}")
    target.check()


def asks(target):
    """The question, and that each has another token."""
    peer = Peer(target)
    peer.send(ASK, question(b"abcdefgh"))
    one = peer.one(peer.first, ASK).payload
    if one[:32] != MAGIC + bytes(24) or one[32:] in (bytes(8), peer.token()):
        raise Failure(one.hex())
    target.check()


def few_answers(target):
    """A flood of questions draws few answers."""
    peer = Peer(target)
    peer.hear(peer.first, 0.5)
    start = time.monotonic()
    for i in range(300):
        peer.send(ASK, question(struct.pack(">Q", i)))
    took = time.monotonic() - start
    found = [seen for seen in peer.hear(peer.first, 1) if seen.opcode == ANSWER]
    if not 1 <= len(found) <= 3 + took / 0.02:
        raise Failure(f"{len(found)} answers in {took} s")
    target.check()


def bad(token=None, address=OWN, qpn=None):
    """A case: an answer that one of these makes wrong agrees to nothing; a right one with the same token then does."""
    def run(target):
        peer = Peer(target)

        def wrong(right):
            before = counters()
            peer.send(ANSWER, answer(token or right, address, peer.number if qpn is None else qpn))
            wait_counted(before, "rx_drop_opcode", 1)
            if peer.hear(peer.second, 0.1):
                raise Failure("it asks there")
        peer.agree(before=wrong)
        target.check()
    return run


def victim(target):
    """Whoever is named, and does not answer, gets three questions and nothing else."""
    peer = Peer(target)
    os.system(f"ip -n {target.ns_b} neigh replace {VICTIM} lladdr {':'.join(f'{b:02x}' for b in peer.macs[0])} dev ed")
    peer.alias()
    peer.agree(VICTIM)
    # Somebody pretends to be the victim, who sends what is right but for the token.
    source = {"src": socket.inet_aton(VICTIM)}
    with Dropped("rx_drop_peer"):
        peer.send(RC_SEND_ONLY, b"x" * 100, True, target.psn(), **source)
    with Dropped("rx_drop_opcode"):
        peer.send(ANSWER, answer(b"87654321", VICTIM, peer.number), True, **source)
    found = peer.hear(peer.second, 5)
    if len(found) > 2 or any(seen.opcode != ASK or seen.dst != VICTIM for seen in found):
        raise Failure(f"{found}")
    target.check()


class Dropped:
    """What is sent meanwhile by the second way is dropped, and counted by nld, where it comes in."""

    def __init__(self, name):
        self.file = f"/sys/class/infiniband/nld/ports/1/hw_counters/{name}"
        self.before = self.count()

    def count(self):
        with open(self.file, encoding="ascii") as file:
            return int(file.read())

    def __enter__(self):
        pass

    def __exit__(self, *_):
        end = time.monotonic() + 5
        while self.count() == self.before:
            if time.monotonic() > end:
                raise Failure(f"{self.file} does not grow")
            time.sleep(0.02)


def good(target):
    """A peer that proves its address: requests by that way are taken, and answered by it; then by the first again."""
    peer = Peer(target)
    target.ask("post 2")
    peer.alias()
    asked = peer.agree()
    if (asked.src, asked.dst, asked.qpn, asked.payload[:32]) != (PEER, OWN, peer.number, MAGIC + bytes(24)):
        raise Failure(f"{asked}")
    with Dropped("rx_drop_peer"):
        peer.send(RC_SEND_ONLY, b"x" * 100, True, target.psn())
    ack = peer.prove(asked, target.psn())
    if (ack.dst, ack.qpn, ack.psn) != (OWN, peer.number, target.psn() & 0xffffff):
        raise Failure(f"{ack}")
    peer.send(ASK, question(b"by way 2"), True)
    if peer.one(peer.second, ANSWER).payload[32:] != b"by way 2":
        raise Failure("another token")
    peer.hear(peer.first, 0.2)
    peer.send(RC_SEND_ONLY, b"x" * 100, False, target.psn(1))
    if peer.one(peer.first, ACK).psn != target.psn(1) & 0xffffff:
        raise Failure("another packet is acknowledged")
    # Neither by the alias from elsewhere, nor from there by the first number.
    with Dropped("rx_drop_peer"):
        peer.send(RC_SEND_ONLY, b"x" * 100, True, target.psn(2), src=socket.inet_aton(VICTIM))
    with Dropped("rx_drop_no_qp"):
        peer.send(RC_SEND_ONLY, b"x" * 100, True, target.psn(2), qpn=target.pair["qpn_b"])
    with Dropped("rx_drop_icrc"):
        peer.send(RC_SEND_ONLY, b"x" * 100, True, target.psn(2), icrc_xor=1)
    target.check("neighbour")


def ignored(counter, **fields):
    """A case: a question that @counter counts and nobody answers."""
    def run(target):
        peer = Peer(target)
        peer.hear(peer.first, 0.2)
        packet = Packet(target, ASK, 0, question(b"12345678"))
        change(**fields)(target, packet)
        only_counted(target, [packet], counter)
        if [seen for seen in peer.hear(peer.first, 0.3) if seen.opcode == ANSWER]:
            raise Failure("answered")
        target.check()
    return run


CASES = {
    "tells": tells,
    "asks": asks,
    "few_answers": few_answers,
    "other_version": ignored("rx_drop_opcode", payload=b"hroc\2" + bytes(35)),
    "short": ignored("rx_drop_length", payload=MAGIC),
    "long": ignored("rx_drop_length", payload=question(bytes(8)) + bytes(4)),
    "empty": ignored("rx_drop_length", payload=b""),
    "damaged": ignored("rx_drop_icrc", icrc_xor=1),
    "of_other_pkey": ignored("rx_drop_pkey", pkey=0x9234),
    "to_uc": dropped("uc", "rx_drop_opcode", change(opcode=ASK, ext=b"", payload=question(bytes(8)))),
    "to_ud": dropped("ud", "rx_drop_opcode", change(opcode=ASK, ext=b"", payload=question(bytes(8)))),
    "unasked": bad(b"87654321"),
    "unasked_0": bad(bytes(8)),
    "loopback": bad(address="127.0.0.1"),
    "multicast": bad(address="224.0.0.5"),
    "broadcast": bad(address="255.255.255.255"),
    "no_address": bad(address="0.0.0.0"),
    "other_family": bad(address="fd91::1"),
    "own_address": bad(address=PEER),
    "number_0": bad(qpn=0),
    "number_1": bad(qpn=1),
    "number_of_multicast": bad(qpn=0xffffff),
    "number_too_long": bad(qpn=0x1000010),
    "victim": victim,
    "good": good,
}


def main():
    ns_a, ns_b, family = sys.argv[1:]
    report = tap.Tap(len(CASES))
    run_cases(report, Target(ns_a, ns_b, family), "second", CASES)
    sys.exit(report.done())


if __name__ == "__main__":
    main()
