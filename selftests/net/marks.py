#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Packets that a switch has marked, and congestion notification packets.

usage: marks.py NAMESPACE-A NAMESPACE-B FAMILY
"""
import os
import socket
import struct
import sys
import time

from checksum import checksum
from inject import CNP, ETH_P_ALL, Failure, Packet, SACK_ASK, Switched, Target, change, counters, dropped, good, heard
from inject import run_cases, wait_counted

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "lib"))

import tap

CE = 3

# The questions of who uses several ways and of who does not.
FOLLOW = b"hroc\1\x0f\0\0"
NO_FOLLOW = b"hroc\1\x0b\0\0"


class Listening:
    """What nlb sends while packets that a switch has marked are sent to it."""

    def __init__(self, target, kind):
        target.new(kind)
        self.target, self.kind = target, kind
        self.socket = target.socket_in(target.ns_a, "ea", ETH_P_ALL)
        self.before = counters()

    def cnps(self):
        """The CNPs that have come, from the IP header on."""
        return [ip for ip, length in heard(self.socket, self.target.mac_b) if ip[length + 8] == CNP]

    def send(self, number, counter, counted, **fields):
        """Send packets in order, until @counter has grown; return the CNPs, whose number is also counted."""
        self.target.ask(f"post {number}")
        self.cnps()
        for i in range(number):
            packet = good(self.target, self.kind)
            packet.psn += i
            change(**{"tos": CE, **fields})(self.target, packet)
            self.target.send(packet.frame())
        wait_counted(self.before, counter, counted, number)
        # The answer follows the counting.
        grown = wait_counted(self.before, counter, counted, number)
        found = self.cnps()
        if len(found) != grown.get("np_cnp_sent", 0):
            raise Failure(f"{len(found)} CNPs; {grown}")
        return found


def expected_cnp(target, seen):
    """The answer of annex A17.9.3, but for what the sender may choose: IPv4 identification, hop limit, source port."""
    packet = Packet(target, CNP, 0, b"\0" * 16)
    packet.src, packet.dst = packet.dst, packet.src
    packet.qpn = target.pair["qpn_a"] | 0x40000000
    packet.ack = 0
    packet.tos = 48 << 2 | 2
    length = 20 if seen[0] >> 4 == 4 else 40
    packet.sport = struct.unpack(">H", seen[length:length + 2])[0]
    transport = packet.transport()
    ip, udp = packet.headers(8 + len(transport) + 4)
    if length == 20:
        ip = ip[:4] + seen[4:6] + ip[6:8] + seen[8:9] + ip[9:]
        ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
    else:
        ip = bytes([ip[0], ip[1] & 0xf0 | seen[1] & 0x0f]) + seen[2:4] + ip[4:7] + seen[7:8] + ip[8:]
    return ip + udp[:6] + seen[length + 6:length + 8] + transport + \
        struct.pack("<I", packet.icrc(ip, udp, transport))


def marked(kind):
    """A case: a packet that came through congestion is answered, in every byte as hardware answers it."""
    def run(target):
        found = Listening(target, kind).send(1, "np_cnp_sent", 1)
        wanted = expected_cnp(target, found[0])
        if len(found) != 1 or found[0][:len(wanted)] != wanted:
            raise Failure(f"{[cnp.hex() for cnp in found]}, expected {wanted.hex()}")
    return run


def port_of_cnp(target, sport, question=None):
    """The UDP source port of the answer to a marked packet that has the port @sport."""
    link = Listening(target, "rc")
    if question:
        before = counters()
        target.send(Packet(target, SACK_ASK, target.psn(), question).frame())
        wait_counted(before, "rx_packets", 1)
    cnp = link.send(1, "np_cnp_sent", 1, sport=sport)[0]
    wanted = expected_cnp(target, cnp)
    if cnp[:len(wanted)] != wanted:
        raise Failure(f"{cnp.hex()}, expected {wanted.hex()}")
    length = 20 if cnp[0] >> 4 == 4 else 40
    return struct.unpack(">H", cnp[length:length + 2])[0]


def marked_way(target):
    """Who uses several ways, and has said so, learns which is marked; ports that are not for RoCE are none."""
    ports = [port_of_cnp(target, sport, question) for sport, question in
             ((0xd123, FOLLOW), (0xffff, FOLLOW), (0xbfff, FOLLOW), (0xd123, NO_FOLLOW), (0xd123, None))]
    if ports[:2] != [0xd123, 0xffff] or any(port in (0xd123, 0xffff) or port < 0xc000 for port in ports[2:]):
        raise Failure(f"{ports}")


def marked_often(target):
    """One answer in the time that is set, however many packets are marked."""
    with Switched("np_min_time_between_cnps", 4000):
        link = Listening(target, "rc")
        begin = time.monotonic()
        found = link.send(30, "np_ecn_marked_roce_packets", 30)
        most = 1 + int((time.monotonic() - begin) / 0.004)
    if not 1 <= len(found) <= most:
        raise Failure(f"{len(found)} CNPs, at most {most} expected")


def unanswered(kind, counter, **fields):
    """A case: a packet that is counted by @counter, and that nobody is told about."""
    def run(target):
        found = Listening(target, kind).send(1, counter, 1, **fields)
        if found:
            raise Failure(f"{[cnp.hex() for cnp in found]}")
    return run


def notified(kind, counter, choose=None, **fields):
    """A case: CNPs of which @counter is all that they do, as seen by who sends here."""
    def turn(target, packet):
        change(opcode=CNP, ext=b"", payload=b"\0" * 16, **fields)(target, packet)
        if choose:
            choose(packet)(target, packet)
    return dropped(kind, counter, turn)


def flood_for_others(target):
    """Thousands of CNPs that are not of the peer, or for nobody, cost a counter each, and slow nobody down."""
    target.new("rc")
    target.check()
    frames = []
    for fields in ({"qpn": 0xfffff1}, {}):
        packet = good(target, "rc")
        change(opcode=CNP, ext=b"", payload=b"\0" * 16, **fields)(target, packet)
        if not fields:
            packet.src = packet.src[:-1] + b"\x4d"
        frames.append(packet.frame())
    for _ in range(8):
        before = counters()
        for _ in range(250):
            for frame in frames:
                target.send(frame)
        grown = wait_counted(before, "rx_packets", 500)
        wanted = {"rx_packets": 500, "rx_drop_no_qp": 250, "rx_drop_peer": 250, "rp_cnp_handled": 0}
        if any(grown.get(name, 0) != number for name, number in wanted.items()):
            raise Failure(f"{grown}, expected {wanted}")
        target.check("neighbour")
    target.check()


def not_obeyed(target):
    with Switched("rp_enable", "N"):
        notified("rc", "rx_drop_cnp")(target)


def switched_off(target):
    with Switched("np_enable", "N"):
        unanswered("rc", "np_ecn_marked_roce_packets")(target)


def traffic_class(ip):
    return ip[1] if ip[0] >> 4 == 4 else (ip[0] << 4 | ip[1] >> 4) & 0xff


def class_of_cnps(target):
    """The class is the administrator's."""
    with Switched("np_cnp_dscp", 10):
        found = Listening(target, "rc").send(1, "np_cnp_sent", 1)
    if [traffic_class(cnp) for cnp in found] != [10 << 2 | 2]:
        raise Failure(f"{[cnp.hex() for cnp in found]}")


CASES = {
    "marked_rc": marked("rc"),
    "marked_uc": marked("uc"),
    "marked_ud": unanswered("ud", "np_ecn_marked_roce_packets"),
    "marked_way": marked_way,
    "marked_often": marked_often,
    "marked_cnp": unanswered("rc", "rp_cnp_handled", opcode=CNP, ext=b"", payload=b"\0" * 16),
    "marked_and_damaged": unanswered("rc", "rx_drop_icrc", icrc_xor=1),
    "marked_for_nobody": unanswered("rc", "rx_drop_no_qp", qpn=0xfffff1),
    "not_marked": unanswered("rc", "rx_bytes", tos=0),
    "not_marked_ect_0": unanswered("rc", "rx_bytes", tos=2),
    "not_marked_ect_1": unanswered("rc", "rx_bytes", tos=1),
    "cnps_switched_off": switched_off,
    "class_of_cnps": class_of_cnps,
    "cnp": notified("rc", "rp_cnp_handled"),
    "cnp_uc": notified("uc", "rp_cnp_handled"),
    "cnp_ud": notified("ud", "rx_drop_cnp"),
    "cnp_damaged": notified("rc", "rx_drop_icrc", icrc_xor=1),
    "cnp_for_nobody": notified("rc", "rx_drop_no_qp", qpn=0xfffff1),
    "cnp_of_other_pkey": notified("rc", "rx_drop_pkey", pkey=0x9234),
    "cnp_of_other_peer": notified("rc", "rx_drop_peer", lambda p: change(src=p.src[:-1] + b"\x4d")),
    "cnps_for_others": flood_for_others,
    "cnps_not_obeyed": not_obeyed,
}


def main():
    ns_a, ns_b, family = sys.argv[1:]
    report = tap.Tap(len(CASES))
    run_cases(report, Target(ns_a, ns_b, family), "marks", CASES)
    sys.exit(report.done())


if __name__ == "__main__":
    main()
