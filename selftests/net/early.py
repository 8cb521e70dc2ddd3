#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Acknowledge packets that have not left yet: memory may be reused when its request has ended, and not before.

usage: early.py NAMESPACE-A NAMESPACE-B FAMILY

Packets, target and wire are those of inject.py. Prints TAP.
"""

import os
import subprocess
import sys
import time

from inject import COUNTERS, JIFFY, RC_ACK, SCALE
from inject import Failure, Packet, Target, aeth, counters, run_cases

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "lib"))

import tap


class Waiting:
    """Four WRITEs of three packets, of which the last three at least wait in a qdisc until release()."""

    def __init__(self, target):
        self.target = target
        self.tc = ["tc", "-s", "-n", target.ns_a]
        self.begin = self.took = None

    def qdisc(self, *words):
        return subprocess.run([*self.tc, "qdisc", *words], stdout=subprocess.PIPE, text=True, check=True).stdout

    def __enter__(self):
        self.target.new("big")
        # It has begun already: tc takes a second to begin where the CPU is emulated.
        self.batch = subprocess.Popen([*self.tc, "-batch", "-"], stdin=subprocess.PIPE, text=True)
        self.qdisc("add", *self.tbf("8kbit"))
        self.begin = time.monotonic()
        try:
            self.target.ask("write 4")
            self.until(True)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.batch.stdin.close()
        self.batch.wait()
        self.qdisc("del", "dev", "ea", "root")

    def tbf(self, rate):
        return "dev", "ea", "root", "tbf", "rate", rate, "burst", "14000", "limit", "1000000"

    def some(self):
        return "backlog 0b" not in self.qdisc("show", "dev", "ea")

    def until(self, some):
        end = time.monotonic() + 10 * SCALE
        while self.some() != some:
            if time.monotonic() > end:
                raise Failure("nothing waits" if some else "it still waits")
            time.sleep(0.01)

    def answer(self, syndrome, msn=0):
        """The peer answers the last packet."""
        target = self.target
        packet = Packet(target, RC_ACK, target.psn(4 * 3 - 1), b"", aeth(syndrome, msn))
        packet.mac_dst, packet.mac_src = target.mac_a, target.mac_b
        packet.src, packet.dst, packet.qpn = target.ip_b, target.ip_a, target.pair["qpn_a"]
        target.socket_b.send(packet.frame())

    def release(self):
        self.batch.stdin.write(" ".join(["qdisc", "change", *self.tbf("10gbit")]) + "\n")
        self.batch.stdin.close()
        self.batch.wait()
        # The qdisc looks at its new rate when the next frame comes.
        self.target.socket.send(self.target.mac_b + self.target.mac_a + b"\x88\xb5" + bytes(46))
        self.until(False)
        self.took = time.monotonic() - self.begin


def reused(syndrome, end, statuses):
    """What ends requests that wait in a qdisc: nothing that is written into their memory afterwards leaves."""
    def attempt(target, waiting):
        with waiting:
            before = counters()
            if syndrome is not None:
                waiting.answer(syndrome)
            target.tell(end)
            # Time to write there, if requests end now; less than the second that they wait at most.
            time.sleep(0.1 * SCALE)
            waiting.release()
            answer = target.hear(end)
            if statuses and answer != statuses:
                raise Failure(f"{answer}, expected {statuses}")
            # What has left the qdisc last has arrived before this.
            target.check("neighbour")
            target.check("landed")
            if counters()["rx_drop_icrc"] != before["rx_drop_icrc"]:
                raise Failure("other content has left, behind which the ICRC is wrong")

    def run(target):
        for last in (False, False, False, False, True):
            waiting = Waiting(target)
            try:
                attempt(target, waiting)
                return
            except Failure as failure:
                # They wait no longer than a second, and are given up then. A busy machine takes longer to let them go.
                if last or waiting.took is None or waiting.took < 1:
                    raise
                print(f"# again, as it took {waiting.took:.1f} s: {failure}")
    return run


def limited():
    """Messages of nla that the peer has told no credits for."""
    time.sleep(JIFFY)
    with open(COUNTERS.replace("nlb", "nla") + "e2e_limited", encoding="ascii") as file:
        return int(file.read())


def told(target):
    """An ACK that is held back has told credits for four more messages than it acknowledges."""
    with Waiting(target) as waiting:
        waiting.answer(4, 4)
        target.tell("reuse 4")
        waiting.release()
        answer = target.hear("reuse 4")
        if answer != "done 0 0 0 0":
            raise Failure(answer)
    before = limited()
    target.check("alone")
    if limited() != before:
        raise Failure("a message was limited for which credits had been told")


def stuck(target):
    """Frames that are not freed delay a completion, but not for ever, and it is no error."""
    with Waiting(target) as waiting:
        waiting.answer(0x1f)
        answer = target.ask("reuse 4")
        if answer != "done 0 0 0 0":
            raise Failure(answer)
        if not waiting.some():
            raise Failure("all has left")


CASES = {
    "ack": reused(0x1f, "reuse 4", "done 0 0 0 0"),
    "nak": reused(0x62, "reuse 4", None),
    "error": reused(None, "fail 4", None),
    "reset": reused(None, "reset_a", None),
    "stuck": stuck,
    "credits": told,
}


def main():
    ns_a, ns_b, family = sys.argv[1:]
    report = tap.Tap(len(CASES))
    run_cases(report, Target(ns_a, ns_b, family), "early", CASES)
    sys.exit(report.done())


if __name__ == "__main__":
    main()
