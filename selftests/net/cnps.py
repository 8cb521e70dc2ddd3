#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""How often marked packets are answered by CNPs, and which rate CNPs leave their receiver with DCQCN.

usage: cnps.py NAMESPACE-A NAMESPACE-B FAMILY
"""
import contextlib
import ctypes
import os
import re
import subprocess
import sys
import time

from inject import CNP, COUNTERS, RC_WRITE_ONLY, SCALE, SWITCHES, Failure, Packet, Switched, Target, change, counters
from inject import good, reth, run_cases, wait_counted
from marks import CE

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "lib"))

import tap

PACKETS = 1000
# The longest time that can be set, in microseconds.
NEVER = 131071
# CNPs change the rate, and time does not.
STEADY = {
    "cc": "dcqcn",
    "rp_time_reset": NEVER,
    "rp_byte_reset": 0,
    "rp_threshold": 31,
    "rp_dce_tcp_rtt": NEVER,
    "rp_rate_reduce_monitor_period": 0,
    # A cut takes all of alpha, so it leaves what rp_min_dec_fac says.
    "rp_gd": 10,
}


class Knob(Switched):
    """A switch of a link has another position."""

    def __init__(self, link, name, value):
        super().__init__(name, value)
        self.file = self.file.replace("nlb", link)

    def set(self, value):
        # A list that was read has the position in brackets.
        position = re.search(r"\[(\w+)\]", value)
        super().set(position[1] if position else value)


@contextlib.contextmanager
def positions(link="nlb", **values):
    """Several of them; if one is refused, the others are as before, too."""
    with contextlib.ExitStack() as stack:
        for name, value in values.items():
            stack.enter_context(Knob(link, name, value))
        yield


def counter(name):
    """One of nlb, which takes less time than to read all."""
    with open(COUNTERS + name, encoding="ascii") as file:
        return int(file.read())


def send_at_once(sock, frames):
    """Send by one system call, which takes longer than to receive a frame in user-mode Linux; return when it began."""
    class Message(ctypes.Structure):
        """struct mmsghdr"""
        _fields_ = [("name", ctypes.c_void_p), ("name_len", ctypes.c_uint), ("iov", ctypes.c_void_p),
                    ("iov_len", ctypes.c_size_t), ("control", ctypes.c_void_p), ("control_len", ctypes.c_size_t),
                    ("flags", ctypes.c_size_t), ("sent", ctypes.c_size_t)]

    class Buffer(ctypes.Structure):
        """struct iovec"""
        _fields_ = [("base", ctypes.c_char_p), ("len", ctypes.c_size_t)]

    number = len(frames)
    buffers = (Buffer * number)(*[Buffer(frame, len(frame)) for frame in frames])
    messages = (Message * number)()
    for message, buffer in zip(messages, buffers):
        message.iov, message.iov_len = ctypes.addressof(buffer), 1
    libc = ctypes.CDLL(None, use_errno=True)
    begin = time.monotonic()
    sent = libc.sendmmsg(sock.fileno(), messages, number, 0)
    if sent != number:
        raise Failure(f"{sent} of {number} frames are sent")
    return begin


def answers(target, gap):
    """Packets that are all marked come to one queue pair: how many CNPs go out, and how long that takes."""
    target.new("rc")
    frames = []
    for i in range(PACKETS):
        packet = Packet(target, RC_WRITE_ONLY, target.psn(i), b"w" * 64, reth(target.pair, 64))
        packet.tos = CE
        frames.append(packet.frame())
    with Switched("np_min_time_between_cnps", gap):
        before = counters()
        begin = send_at_once(target.socket, frames)
        end = begin + 5 * SCALE
        while counter("np_ecn_marked_roce_packets") - before["np_ecn_marked_roce_packets"] < PACKETS:
            if time.monotonic() > end:
                raise Failure("not all have come")
        took = time.monotonic() - begin
        # The answer follows the counting.
        grown = wait_counted(before, "np_cnp_sent", 1)
    if grown["np_ecn_marked_roce_packets"] != PACKETS or grown.get("rx_write_requests") != PACKETS:
        raise Failure(f"{grown}")
    return grown["np_cnp_sent"], took


def seldom(target):
    """One CNP in the time that is set, 50 us by default, and one more; fewer if the time is longer."""
    with open(SWITCHES + "np_min_time_between_cnps", encoding="ascii") as file:
        default = int(file.read())
    sent = {}
    # A machine with other work may be too slow in one of them for a CNP too much to show.
    for gap in (0, *[default] * 5, 4095):
        sent[gap], took = answers(target, gap)
        most = 1 + int(took * 1e6 / gap) if gap else PACKETS
        print(f"# {gap} us: {sent[gap]} CNPs in {took * 1e6:.0f} us, at most {most}", flush=True)
        if sent[gap] > most:
            raise Failure(f"{sent[gap]} CNPs in {took:.6f} s, at most {most} expected with {gap} us")
    if default != 50 or not 1 <= sent[4095] < sent[default] <= sent[0]:
        raise Failure(f"{sent}; the default is {default} us")


def rate(link, number):
    """The rate of a queue pair in kbit/s as its control has set it, None without one."""
    shown = subprocess.run(["rdma", "-dd", "resource", "show", "qp", "link", f"{link}/1", "lqpn", str(number)],
                           stdout=subprocess.PIPE, text=True, check=True).stdout
    if " drv_cc " not in shown:
        raise Failure(f"no control: {shown}")
    found = re.search(r" drv_cc_rate_kbps (\d+)", shown)
    return int(found[1]) if found else None


def expect_rate(link, number, wanted):
    seen = rate(link, number)
    if seen != wanted:
        raise Failure(f"the rate is {seen}, expected {wanted}")


def cut(number, wanted, kind="rc", **knobs):
    """A case: the rate of b after so many CNPs, with knobs. As b never sends, it is not raised meanwhile."""
    def run(target):
        with positions(**{**STEADY, **knobs}):
            target.new(kind)
            expect_rate("nlb", target.pair["qpn_b"], None)
            packet = good(target, kind)
            change(opcode=CNP, ext=b"", payload=b"\0" * 16)(target, packet)
            before = counters()
            for _ in range(number):
                target.send(packet.frame())
            wait_counted(before, "rp_cnp_handled", number)
            expect_rate("nlb", target.pair["qpn_b"], wanted)
    return run


def raised(**knobs):
    """A case: the limit ends as the sender goes on, with the knobs that say so."""
    def run(target):
        with positions("nla", **STEADY, rp_rate_to_set_on_first_cnp=64):
            target.new("rc")
            target.check()
            number = target.pair["qpn_a"]
            packet = good(target, "rc")
            change(opcode=CNP, payload=b"\0" * 16, mac_dst=target.mac_a, mac_src=target.mac_b, src=target.ip_b,
                   dst=target.ip_a, qpn=number)(target, packet)
            target.socket_b.send(packet.frame())
            end = time.monotonic() + 5 * SCALE
            while rate("nla", number) is None and time.monotonic() < end:
                time.sleep(0.01)
            expect_rate("nla", number, 64000)
            target.check()
            expect_rate("nla", number, 64000)
            with positions("nla", rp_threshold=1, rp_ai_rate=1000000, **knobs):
                # Ten messages; each raise leaves half of what is missing, and the last 64th does not count.
                target.check()
                target.check()
            expect_rate("nla", number, None)
    return run


CASES = {
    "seldom": seldom,
    "first": cut(1, 64000, rp_rate_to_set_on_first_cnp=64),
    "first_other": cut(1, 7000, rp_rate_to_set_on_first_cnp=7),
    "first_uc": cut(1, 64000, kind="uc", rp_rate_to_set_on_first_cnp=64),
    "first_uc_with_delay": cut(1, 64000, kind="uc", cc="delay", rp_rate_to_set_on_first_cnp=64),
    "first_half": cut(1, 500000, rp_max_rate=1000),
    "first_by_alpha": cut(1, 750000, rp_max_rate=1000, rp_initial_alpha_value=512, rp_gd=11),
    "further": cut(3, 36000, rp_rate_to_set_on_first_cnp=64, rp_min_dec_fac=75),
    "least": cut(30, 5000, rp_rate_to_set_on_first_cnp=64, rp_min_rate=5),
    "other_control": cut(3, None, cc="delay", rp_rate_to_set_on_first_cnp=64),
    "raised_by_bytes": raised(rp_byte_reset=1),
    "raised_by_time": raised(rp_time_reset=1),
}


def main():
    ns_a, ns_b, family = sys.argv[1:]
    report = tap.Tap(len(CASES))
    run_cases(report, Target(ns_a, ns_b, family), "cnps", CASES)
    sys.exit(report.done())


if __name__ == "__main__":
    main()
