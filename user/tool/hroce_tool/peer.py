# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""
`hroce doctor PEER`: what happens to messages between this node and another, where `hroce doctor --serve` runs.

The data goes through rdma_cm and verbs (hroce-peer). A TCP connection beside it asks the peer for its counters, its MTU
and its clock, so that they are known even where no RDMA packet passes.
"""
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time

from . import device, system
from .checks import priority
from .finding import command, error, quoted, warning
from .netdev import SHAPERS, Netdev, roce_mtu

PORT = 18540
VERSION = 1
CONNECT_SECONDS, ANSWER_SECONDS = 10, 60
LINE_MAX = 1 << 16
# Of the service: a client that says nothing for so long has left, and none stays longer than that.
IDLE_SECONDS, CLIENT_SECONDS = 30, 900
REQUEST_MAX = 64
# Of its client, well below: while it measures it asks this often.
ASK_SECONDS = 5
SEGMENT = 500
MESSAGES = 64
SPEED_SIZE, SPEED_MESSAGES, SPEED_ROUNDS, SPEED_TRIES = 65536, 96, 3, 4
MEASURE_SECONDS = 300
RATIO = 3.0
CLOCK_SECONDS = 2.0
# Traffic class that is sent where the link has none of its own: DSCP 26, as most networks with RoCE use.
USUAL_TOS = 26 << 2
# An MTU of the netdev below that packets of this payload fit into.
NETDEV_MTU = {4096: 4200, 2048: 2300, 1024: 1500, 512: 1000, 256: 600}
# What state() tells of a link, and names in it, which become parts of commands.
FIELDS = {"link": str, "netdev": str, "queue": str, "address": str, "mtu": int, "time": (int, float), "counters": dict}
# The largest of each. JSON of Python has infinity, NaN, and numbers that no float holds.
RANGES = {"mtu": 1 << 31, "time": 1e11}
COUNTER_MAX = (1 << 64) - 1
NAME = re.compile(r"[\w.:@-]{0,64}", re.ASCII)


def program():
    """hroce-peer: installed, or as built in the tree."""
    here = os.path.dirname(os.path.realpath(__file__))
    for path in ("../../../libexec/hroce/hroce-peer", "../../../build/user/tool/hroce-peer"):
        if os.access(os.path.join(here, path), os.X_OK):
            return os.path.join(here, path)
    return None


class Missing(Exception):
    """The text says what."""


def need_program():
    found = program()
    if not found:
        raise Missing("hroce-peer is not installed: it is built where librdmacm-dev is")
    return found


def state(address):
    """What one end tells: about the link that has the GID of this IP address."""
    system.forget()
    for link in device.links():
        for gid in link.gids():
            if str(gid.ip) == address:
                netdev = Netdev(gid.netdev)
                return {"version": VERSION, "link": link.name, "netdev": netdev.name, "mtu": netdev.mtu,
                        "address": address, "time": time.time(), "counters": link.counters(),
                        "queue": netdev.root_qdisc()}
    return {"version": VERSION, "link": None, "address": address}


def plain(address):
    """An address as GIDs have it: without zone, and IPv4 not within IPv6."""
    address = address.split("%")[0]
    return address[7:] if address.startswith("::ffff:") and "." in address else address


class Client:
    """A doctor that the service answers: a line for each line."""

    def __init__(self, connection):
        self.connection = connection
        self.request = b""
        self.begin = self.last = time.monotonic()

    def left(self):
        """Seconds until it has to go, unless it asks before."""
        return min(self.last + IDLE_SECONDS, self.begin + CLIENT_SECONDS) - time.monotonic()

    def answer(self):
        """Return whether the client stays."""
        try:
            got = self.connection.recv(REQUEST_MAX)
            self.request += got
            if not got or len(self.request) > REQUEST_MAX:
                return False
            if self.request.endswith(b"\n"):
                self.request, self.last = b"", time.monotonic()
                say(self.connection, state(plain(self.connection.getsockname()[0])))
        except OSError:
            return False
        return True


def say(connection, what):
    connection.sendall(json.dumps(what).encode() + b"\n")


class Service:
    """
    The end that waits, for one client at a time: another is told that it is busy. One thread does all, so clients cannot
    make it grow.
    """

    def __init__(self, port):
        self.port = port
        family = socket.AF_INET6 if os.path.exists("/proc/net/if_inet6") else socket.AF_INET
        self.listener = socket.create_server(("", port), family=family, dualstack_ipv6=family == socket.AF_INET6)
        # Answers have to pass a network that drops larger packets, too.
        self.listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, SEGMENT)
        self.any = "::" if family == socket.AF_INET6 else "0.0.0.0"
        self.client = None

    def accept(self):
        connection, _ = self.listener.accept()
        connection.settimeout(ANSWER_SECONDS)
        if not self.client:
            self.client = Client(connection)
            return
        with connection:
            try:
                say(connection, {"version": VERSION, "busy": True})
            except OSError:
                pass

    def leave(self):
        self.client.connection.close()
        self.client = None

    def turn(self, data):
        """Wait for something, and do it. Return False when DATA, a pipe from the other program, ends."""
        files = [data, self.listener] + ([self.client.connection] if self.client else [])
        ready, _, _ = select.select(files, [], [], max(0, self.client.left()) if self.client else None)
        if self.client and (self.client.connection in ready and not self.client.answer() or self.client.left() <= 0):
            self.leave()
        if self.listener in ready:
            self.accept()
        return data not in ready

    def run(self):
        # So that the program that moves the data ends, too.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        with subprocess.Popen([need_program(), "serve", self.any, str(self.port)], stdout=subprocess.PIPE) as data:
            try:
                if data.stdout.readline() != b"ready\n":
                    return 1
                print(f"hroce: serving on port {self.port} (TCP and rdma_cm)", flush=True)
                while self.turn(data.stdout):
                    pass
                return data.wait()
            finally:
                data.kill()


class Busy(Exception):
    """Another doctor measures."""


def in_range(number, largest):
    """Not for what is no number, or not a finite one."""
    kinds = (int, float) if isinstance(largest, float) else (int,)
    return type(number) in kinds and 0 <= number <= largest


def understood(line):
    """The peer's answer. It may be anything: raise ValueError unless it is what state() returns."""
    try:
        answer = json.loads(line)
    except RecursionError as why:
        raise ValueError("its answer is no answer") from why
    if not isinstance(answer, dict) or answer.get("version") != VERSION:
        raise ValueError("it is another release")
    if answer.get("busy"):
        raise Busy
    for field, kind in FIELDS.items() if answer.get("link") else [("address", str)]:
        value = answer.get(field)
        if not isinstance(value, kind) or kind is str and not NAME.fullmatch(value):
            raise ValueError(f"its {field} is none")
        if kind is dict and not all(in_range(number, COUNTER_MAX) for number in value.values()):
            raise ValueError(f"its {field} are none")
        if field in RANGES and not in_range(value, RANGES[field]):
            raise ValueError(f"its {field} is none")
    return answer


class Peer:
    """The other end, by TCP."""

    def __init__(self, host, port):
        self.connection = socket.create_connection((host, port), timeout=CONNECT_SECONDS)
        self.connection.settimeout(ANSWER_SECONDS)
        self.file = self.connection.makefile("rwb")
        self.own = plain(self.connection.getsockname()[0])
        self.address = plain(self.connection.getpeername()[0])

    def state(self):
        self.file.write(b"state\n")
        self.file.flush()
        line = self.file.readline(LINE_MAX)
        if not line:
            raise ConnectionError("it has closed the connection")
        return understood(line)

    def close(self):
        self.file.close()
        self.connection.close()


def sweep(payload):
    return [f"{direction}:0:{MESSAGES}:{payload}" for direction in ("send", "receive")]


def speed_rounds():
    return [f"{direction}:{SPEED_SIZE}:{SPEED_MESSAGES}:0" for direction in ("send", "receive")] * SPEED_ROUNDS


def run_program(peer, port, words):
    """(what hroce-peer measured, a list of words for each line, what it said)."""
    words = [need_program(), "measure", peer.address, str(port), *words]
    end = time.monotonic() + MEASURE_SECONDS
    out = None
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        try:
            while out is None:
                try:
                    out, err = running.communicate(timeout=ASK_SECONDS)
                except subprocess.TimeoutExpired:
                    # The service drops a client that says nothing.
                    peer.state()
                    if time.monotonic() > end:
                        running.kill()
        finally:
            running.kill()
    return [line.split(" ") for line in out.splitlines()], err.strip()


def measure(peer, port, words):
    """A dictionary for each size of each measurement."""
    lines, said = run_program(peer, port, words)
    found = []
    for direction, size, messages, damaged, ns, mtu, *status in lines:
        found.append({"direction": direction, "size": int(size), "messages": int(messages), "damaged": int(damaged),
                      "ns": int(ns), "mtu": int(mtu), "status": " ".join(status)})
    if any(it["status"] == "busy" for it in found):
        raise Busy
    return found, said


def measure_tos(peer, port, tos):
    """The traffic class as it was sent, arrived there, and came back; None if no datagram passed."""
    lines, _said = run_program(peer, port, [f"mark:{tos}"])
    if not lines or lines[0][4] != "ok":
        return None
    return tuple(map(int, lines[0][1:4]))


TIMESYNCD = "systemctl enable --now systemd-timesyncd"


class Direction:
    """One of the two: its ends, and what became of its packets."""

    def __init__(self, name, ends):
        self.name = name
        self.sender, self.receiver = ends if name == "send" else ends[::-1]
        self.trials, self.rounds = [], []

    def mine(self, results):
        return [it for it in results if it["direction"] == self.name]

    @property
    def speed(self):
        """MB/s, of the best round: others may have shared the CPU."""
        return max((it["size"] * it["messages"] * 1e3 / it["ns"] for it in self.rounds
                    if it["status"] == "ok" and it["ns"]), default=0)

    def passed(self):
        return [it["size"] for it in self.trials if it["status"] == "ok"]

    def failed(self):
        return [it["size"] for it in self.trials if it["status"] not in ("ok", "skipped")]

    def sent(self):
        return self.sender.grown("tx_packets")

    def lost(self):
        """Packets that were sent and did not arrive. Those of other connections count, too."""
        return self.sent() - self.receiver.grown("rx_packets")

    def reordered(self):
        """Gaps that the receiver has seen although all packets arrived."""
        return self.receiver.grown("nak_seq_sent")

    def broken(self):
        return self.receiver.grown("rx_drop_icrc")


class End:
    """A node before and after. PREFIX makes a command run there."""

    def __init__(self, title, prefix, before):
        self.title, self.prefix, self.before, self.after = title, prefix, before, before

    def grown(self, counter):
        return self.after["counters"].get(counter, 0) - self.before["counters"].get(counter, 0)

    def command(self, text):
        return f"{self.prefix} {quoted(text)}" if self.prefix else text

    @property
    def netdev(self):
        return self.before["netdev"]

    def with_mtu(self, mtu):
        return self.command(command("ip", "link", "set", "dev", self.netdev, "mtu", mtu))

    def without_shaper(self):
        """A command that takes a queue away which someone made, or one that shows where packets are lost."""
        if self.before["queue"] in SHAPERS:
            return self.command(command("tc", "qdisc", "del", "dev", self.netdev, "root"))
        return self.command(command("ethtool", "-S", self.netdev) + " | grep -iE 'drop|err|disc|crc|miss'")


def find_mtu(ends):
    here, there = ends
    if here.before["mtu"] == there.before["mtu"]:
        return []
    larger = max(ends, key=lambda end: end.before["mtu"])
    smaller = min(here.before["mtu"], there.before["mtu"])
    words = ("peer-mtu", larger.netdev,
             f"{here.title} has MTU {here.before['mtu']}, {there.title} {there.before['mtu']}.")
    repair = larger.with_mtu(smaller)
    if roce_mtu(here.before["mtu"]) != roce_mtu(there.before["mtu"]):
        return [error(*words, "The end with the smaller one refuses connections whose packets it cannot take.", repair)]
    return [warning(*words, "TCP and RoCEv2 are right, datagrams of the larger size are dropped.", repair)]


def find_clock(ends, seconds):
    here, there = ends
    if abs(seconds) <= CLOCK_SECONDS:
        return []
    return [warning("peer-clock", there.title, f"The clocks of {here.title} and {there.title} differ by "
                    f"{abs(seconds):.0f} s.", "Logs of both cannot be compared, and leases of storage may expire.",
                    f"{TIMESYNCD} && {there.prefix} {TIMESYNCD}")]


def find_black_hole(direction):
    """Small messages pass and large ones do not: packets of full size are dropped on the way."""
    failed, passed = direction.failed(), direction.passed()
    if not failed:
        return []
    way = f"from {direction.sender.title} to {direction.receiver.title}"
    if not passed or max(passed) > min(failed):
        return [error("messages-fail", direction.receiver.title,
                      f"Messages of {', '.join(map(str, failed))} bytes fail {way}.",
                      next(it["status"] for it in direction.trials if it["size"] == failed[0]) + ".",
                      direction.sender.without_shaper())]
    fits = next((size for size in NETDEV_MTU if size <= max(passed)), 256)
    mtu = NETDEV_MTU[fits]
    both = " && ".join(end.with_mtu(mtu)
                       for end in (direction.sender, direction.receiver))
    return [error("black-hole", direction.receiver.title,
                  f"Messages of up to {max(passed)} bytes pass {way}, those of {min(failed)} and more do not.",
                  f"A device between has a smaller MTU than {direction.sender.netdev} and "
                  f"{direction.receiver.netdev}, and drops packets that are larger.", both)]


def find_loss(direction):
    way = f"from {direction.sender.title} to {direction.receiver.title}"
    sent, lost, naks, broken = direction.sent(), direction.lost(), direction.reordered(), direction.broken()
    subject = direction.receiver.title
    found = []
    if any(it["damaged"] for it in direction.trials + direction.rounds):
        found.append(error("content", subject, f"Messages {way} arrive with other content.",
                           "Neither the ICRC nor the protocol has seen it: memory or a driver changes data.",
                           direction.sender.command("dmesg | tail -n 50")))
    if broken:
        found.append(warning("damage", subject, f"{broken} of {sent} packets {way} were damaged (rx_drop_icrc).",
                             "A cable, a switch or memory changes bits; RoCEv2 repeats the packets.",
                             direction.sender.without_shaper()))
    if lost > 0:
        found.append(warning("loss", subject, f"{lost} of {sent} packets {way} were lost.",
                             "RoCEv2 repeats what is lost and all that follows it, and UC and UD lose messages.",
                             direction.sender.without_shaper()))
    elif naks and not broken:
        found.append(warning("reordering", subject, f"Packets {way} arrived out of order {naks} times.",
                             "RoCEv2 takes that for loss, and repeats all that follows.",
                             direction.sender.without_shaper()))
    return found


def find_dscp(ends, sent, there, back):
    found = []
    for (sender, receiver), seen in ((ends, there), (ends[::-1], back)):
        # Routers may set the lower two bits, which are ECN.
        if seen >> 2 == sent >> 2:
            continue
        found.append(warning(
            "dscp", receiver.title, f"DSCP {sent >> 2} arrives as {seen >> 2} from {sender.title} to {receiver.title}.",
            "Beyond the place that changes it, queues for RoCE, with PFC or ECN, do not get the packets; let the ports of "
            "switches trust DSCP.",
            sender.command("nft list ruleset | grep dscp; " +
                           command("tc", "filter", "show", "dev", sender.netdev, "egress"))))
    return found


def find_speed(directions):
    slow, fast = sorted(directions, key=lambda it: it.speed)
    if not slow.speed or fast.speed < RATIO * slow.speed:
        return []
    return [warning("asymmetric", slow.receiver.title,
                    f"From {slow.sender.title} to {slow.receiver.title} there are {slow.speed:.1f} MB/s, in the other "
                    f"direction {fast.speed:.1f} MB/s.",
                    "A limit, a slow port or a busy CPU is in one direction.", slow.sender.without_shaper())]


def measure_speed(peer, port, directions):
    """Again if one seems slow: others may have had the CPU in all of its rounds."""
    for _ in range(SPEED_TRIES):
        rounds, _said = measure(peer, port, speed_rounds())
        for direction in directions:
            direction.rounds += direction.mine(rounds)
        slow = find_speed(directions)
        if not slow:
            break
    return slow


def no_link(end, which, why):
    return error("peer-no-link", end.title, f"{end.title} has no link with the address {end.before['address']}{which}.",
                 why, end.command("hroce doctor"))


def settled(peer, ends):
    """The states after all packets have arrived, or have had the time."""
    here, there = ends
    for _ in range(10):
        there.after = peer.state()
        here.after = state(peer.own)
        if not all(end.after.get("link") for end in ends):
            break
        if (here.grown("tx_packets"), there.grown("tx_packets")) == (there.grown("rx_packets"),
                                                                    here.grown("rx_packets")):
            break
        time.sleep(0.05)


def examine(peer, host, port):
    """Findings and measurements."""
    asked = time.time()
    remote = peer.state()
    local = state(peer.own)
    ends = [End("this node", "", local), End(host, command("ssh", host), remote)]
    for end in ends:
        if not end.before.get("link"):
            return [no_link(end, "", "The path that TCP takes is not one for RDMA.")], []
    offset = remote["time"] - (asked + time.time()) / 2
    payload = roce_mtu(min(local["mtu"], remote["mtu"]))
    found = find_mtu(ends) + find_clock(ends, offset)
    results, said = measure(peer, port, sweep(payload))
    if all(it["status"] == "connect" for it in results):
        if any(it.id == "peer-mtu" and it.severity == "error" for it in found):
            return found, results
        return found + [error("peer-connect", host, f"rdma_cm does not connect to {host}"
                              + (f": {said.splitlines()[-1]}." if said else "."),
                              "TCP does, so UDP port 4791 is dropped on the way, or at one of the ends.",
                              ends[1].command("hroce doctor"))], results
    directions = [Direction(name, ends) for name in ("send", "receive")]
    for direction in directions:
        direction.trials = direction.mine(results)
    marks = measure_tos(peer, port, priority.default_tos(local["link"]) or USUAL_TOS)
    slow = measure_speed(peer, port, directions)
    settled(peer, ends)
    for end in ends:
        if not end.after.get("link"):
            return found + [no_link(end, " any more", "It went while it was measured.")], results
    for direction in directions:
        holes = find_black_hole(direction)
        found += holes or find_loss(direction)
    if marks:
        found += find_dscp(ends, *marks)
        results += [{"direction": name, "dscp_sent": marks[0] >> 2, "dscp_seen": seen >> 2}
                    for name, seen in (("send", marks[1]), ("receive", marks[2]))]
    return found + slow, results + [
        {"direction": it.name, "mb_per_s": round(it.speed, 3)} for it in directions]


def serve_there(host, port):
    return command("ssh", "-f", host, "hroce", "doctor", "--serve", "--port", port)


def check(host, port):
    need_program()
    try:
        peer = Peer(host, port)
    except (OSError, UnicodeError) as why:
        # Names with an empty or a long label have no encoding.
        said = "no name of a host" if isinstance(why, UnicodeError) else why.strerror or why
        return [error("peer-unreachable", host, f"{host} does not answer on TCP port {port}: {said}.",
                      "The other node has to run the service of the doctor.",
                      serve_there(host, port))], []
    try:
        return examine(peer, host, port)
    except Busy:
        return [warning("peer-busy", host, f"{host} is busy with the doctor of another node.",
                        "It measures with one at a time, so that the numbers are right.",
                        "sleep 60; " + command("hroce", "doctor", host, "--port", port))], []
    except (OSError, ValueError) as why:
        return [error("peer-unreachable", host, f"{host} stopped to answer: {why}.", "Nothing can be said about it.",
                      serve_there(host, port))], []
    finally:
        peer.close()


def serve(port):
    try:
        return Service(port).run()
    except (OSError, Missing) as why:
        print(f"hroce: {why}", file=sys.stderr)
        return 1
