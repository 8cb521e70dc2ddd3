#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Throw requests at queue pairs that name a memory window which another queue pair has bound meanwhile, with the same key.

usage: windows.py NAMESPACE-A NAMESPACE-B FAMILY

Packets, target and wire are those of inject.py. Prints TAP.
"""

import os
import struct
import sys
import time

from inject import ETH_P_ALL, RC_ACK, RC_READ, RC_READ_RESPONSE_ONLY, RC_WRITE_FIRST
from inject import Failure, Packet, Target, counters, heard, parted, reth, run_cases, wait_counted

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "lib"))

import tap

RC_WRITE_LAST = 0x08
NAK_ACCESS = 0x62


class Window:
    """A queue pair of nlb that has bound a window, and what it answers."""

    def __init__(self, target):
        target.new("rc")
        target.check()
        self.target = target
        self.at = {name: int(value) for name, value in
                   (word.split("=") for word in target.ask("bind").split()[1:])}
        self.socket = target.socket_in(target.ns_a, "ea", ETH_P_ALL)

    def answer(self, packet):
        """Send @packet; opcode, syndrome and payload of the answer."""
        list(heard(self.socket, self.target.mac_b))
        self.target.send(packet.frame())
        end = time.monotonic() + 5
        while time.monotonic() < end:
            for ip, length in heard(self.socket, self.target.mac_b):
                transport, _ = parted(ip, length)
                opcode, _, _, qpn, _, aeth = struct.unpack(">BBHIII", transport[:16])
                if qpn == self.target.pair["qpn_a"] and opcode in (RC_ACK, RC_READ_RESPONSE_ONLY):
                    return opcode, aeth >> 24, transport[16:]
            time.sleep(0.005)
        raise Failure("no answer")

    def pass_on(self):
        self.target.ask("pass_on")

    def is_as_it_was(self):
        """The memory of the new owner, and the connection of another queue pair."""
        answer = self.target.ask("passed")
        if not answer.startswith("ok"):
            raise Failure(f"memory of the new owner: {answer}")
        self.target.check("neighbour")

    def ignores(self, packet):
        """That does not answer @packet, and does not end a connection for it, either."""
        before = counters()
        self.target.send(packet.frame())
        wait_counted(before, "duplicates", 1)
        # What has been answered before this has been heard.
        self.is_as_it_was()
        for ip, length in heard(self.socket, self.target.mac_b):
            transport, _ = parted(ip, length)
            if struct.unpack(">BBHI", transport[:8])[3] == self.target.pair["qpn_a"]:
                raise Failure(f"answered by opcode {transport[0]:#x}")
        if self.target.ask("state") != "state 3 3":
            raise Failure(self.target.ask("state"))

    def refuses(self, packet):
        """That answers @packet, and ends the connection, but no other; the memory of the new owner is as it was."""
        before = counters()
        opcode, syndrome, payload = self.answer(packet)
        if opcode != RC_ACK or syndrome != NAK_ACCESS:
            raise Failure(f"opcode {opcode:#x}, syndrome {syndrome:#x}, {payload[:8]}")
        wait_counted(before, "responder_errors", 1)
        self.is_as_it_was()


def read_again(target):
    """A READ that has been answered, and comes once more."""
    window = Window(target)
    read = Packet(target, RC_READ, target.psn(), b"", reth(window.at, 64))
    answer = window.answer(read)
    if answer[0] != RC_READ_RESPONSE_ONLY or answer[2] != b"m" * 64:
        raise Failure(f"the first answer: {answer}")
    # As long as the queue pair has it, it is answered again.
    if window.answer(read) != answer:
        raise Failure("the second answer is another one")
    window.pass_on()
    window.ignores(read)


def write_begun(target):
    """The rest of a WRITE that has begun."""
    window = Window(target)
    mtu = target.pair["mtu"]
    first = Packet(target, RC_WRITE_FIRST, target.psn(), b"w" * mtu, reth(window.at, mtu + 64))
    answer = window.answer(first)
    if answer[0] != RC_ACK or answer[1] & 0x60:
        raise Failure(f"the first answer: {answer}")
    window.pass_on()
    window.refuses(Packet(target, RC_WRITE_LAST, target.psn(1), b"w" * 64))


CASES = (
    read_again,
    write_begun,
)


def main():
    ns_a, ns_b, family = sys.argv[1:]
    report = tap.Tap(len(CASES))
    run_cases(report, Target(ns_a, ns_b, family), "windows", {case.__name__: case for case in CASES})
    sys.exit(report.done())


if __name__ == "__main__":
    main()
