#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Throw malformed packets at queue pairs, and look what is counted and who notices.

usage: inject.py NAMESPACE-A NAMESPACE-B FAMILY

Packets are built here, checksums and ICRC included, and leave namespace A through a packet socket on "ea", as if A's
link nla had sent them to nlb. For each kind of packet: exactly the expected counter of nlb moves, by exactly the
number of packets; the queue pair aimed at (unless the packet is a fatal error by the specification) and its neighbour
still work. The queue pairs are those of selftests/verbs/vt_target.c. Prints TAP.
"""

import ctypes
import errno
import os
import random
import socket
import struct
import subprocess
import sys
import time
import zlib

from checksum import checksum

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "lib"))

import tap

PORT = 4791
ETH_P_ALL = 3
COUNTERS = "/sys/class/infiniband/nlb/ports/1/hw_counters/"
SWITCHES = "/sys/kernel/debug/hroce/nlb/"
# Longer than a jiffy of any kernel, in seconds.
JIFFY = 0.02
# Slow machines stretch deadlines.
SCALE = int(os.environ.get("HROCE_TIME_SCALE", "1"))

# Opcodes (IBTA table 38, A19).
RC_SEND_FIRST, RC_SEND_MIDDLE, RC_SEND_LAST, RC_SEND_ONLY = 0x00, 0x01, 0x02, 0x04
RC_WRITE_FIRST, RC_WRITE_MIDDLE, RC_WRITE_ONLY = 0x06, 0x07, 0x0a
RC_READ, RC_READ_RESPONSE_ONLY, RC_ACK, RC_ATOMIC_ACK = 0x0c, 0x10, 0x11, 0x12
RC_CMP_SWAP, RC_FETCH_ADD = 0x13, 0x14
RC_FLUSH, RC_ATOMIC_WRITE = 0x1c, 0x1d
UC_SEND_FIRST, UC_SEND_MIDDLE, UC_SEND_LAST, UC_SEND_ONLY = 0x20, 0x21, 0x22, 0x24
UC_WRITE_ONLY = 0x2a
UD_SEND_ONLY, UD_SEND_ONLY_IMM = 0x64, 0x65
CNP = 0x81
# Of hroce, see Documentation/protocol.rst.
SACK_ASK, SACK = 0xc0, 0xc1

# ECN bits of a packet that came through congestion (RFC 3168).


class Failure(Exception):
    """A case went wrong."""


class Packet:
    """A RoCEv2 packet, right in every respect until somebody changes it."""

    def __init__(self, target, opcode, psn, payload=b"", ext=b""):
        self.mac_dst, self.mac_src = target.mac_b, target.mac_a
        self.src, self.dst = target.ip_a, target.ip_b
        self.opcode, self.psn, self.payload, self.ext = opcode, psn, payload, ext
        self.qpn = target.pair["qpn_b"]
        self.pad = None
        self.version = 0
        self.flags = 0
        self.pkey = 0xffff
        self.ack = 1
        self.sport = 0xd000
        self.dport = PORT
        self.icrc_xor = 0
        self.cut = 0            # bytes taken off the end of the UDP payload, before the ICRC is computed
        self.no_icrc = False
        self.ip_len_add = 0     # lies of the headers about lengths
        self.udp_len_add = 0
        self.trailer = b""
        self.fragment = 0
        self.ttl = 64
        self.tos = 0            # or traffic class
        self.ident = None       # IPv4 identification, if it matters
        self.joined = 0         # the mark of joined()

    def transport(self):
        pad = -len(self.payload) % 4 if self.pad is None else self.pad
        padding = b"\0" * (-len(self.payload) % 4)
        bth = struct.pack(">BBHII", self.opcode, self.flags | (pad & 3) << 4 | self.version, self.pkey,
                          self.qpn | self.joined << 29, self.ack << 31 | (self.psn & 0xffffff))
        data = bth + self.ext + self.payload + padding
        return data[:len(data) - self.cut] if self.cut else data

    def headers(self, udp_len):
        udp = struct.pack(">HHHH", self.sport, self.dport, (udp_len + self.udp_len_add) & 0xffff, 0)
        if len(self.src) == 4:
            ident = random.randrange(65536) if self.ident is None else self.ident & 0xffff
            ip = struct.pack(">BBHHHBBH4s4s", 0x45, self.tos, (20 + udp_len + self.ip_len_add) & 0xffff,
                             ident, self.fragment or 0x4000, self.ttl, 17, 0, self.src, self.dst)
            return ip, udp
        return struct.pack(">IHBB16s16s", 0x60000000 | self.tos << 20, (udp_len + self.ip_len_add) & 0xffff, 17, self.ttl,
                           self.src, self.dst), udp

    @staticmethod
    def icrc(ip, udp, transport):
        """CRC over the packet with variant fields as ones (IBTA annex A17)."""
        ip, transport = bytearray(ip), bytearray(transport)
        if len(ip) == 20:
            ip[1] = ip[8] = ip[10] = ip[11] = 0xff
        else:
            ip[0] |= 0x0f
            ip[1] = ip[2] = ip[3] = ip[7] = 0xff
        if len(transport) > 4:
            transport[4] = 0xff
        return zlib.crc32(b"\xff" * 8 + bytes(ip) + udp[:6] + b"\xff\xff" + bytes(transport))

    def frame(self):
        transport = self.transport()
        ip, udp = self.headers(8 + len(transport) + (0 if self.no_icrc else 4))
        crc = b"" if self.no_icrc else struct.pack("<I", self.icrc(ip, udp, transport) ^ self.icrc_xor)
        return self.wrap(ip, udp, transport + crc)

    def wrap(self, ip, udp, data):
        if len(ip) == 20:
            ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
        else:
            udp = udp[:6] + struct.pack(">H", self.udp_checksum(ip, udp, data))
        kind = b"\x08\x00" if len(ip) == 20 else b"\x86\xdd"
        return self.mac_dst + self.mac_src + kind + ip + udp + data + self.trailer

    @staticmethod
    def udp_checksum(ip, udp, data):
        pseudo = ip[8:40] + struct.pack(">IHBB", len(udp) + len(data), 0, 0, 17)
        return checksum(pseudo + udp + data) or 0xffff


def joined(first, second):
    """The frame of two packets in one datagram: the lengths and identifications that their ICRCs cover are their own."""
    first.joined = 1
    first.ident, second.ident = 0x1234, 0x1235
    data = b""
    for packet in (first, second):
        transport = packet.transport()
        ip, udp = packet.headers(8 + len(transport) + 4)
        data += transport + struct.pack("<I", packet.icrc(ip, udp, transport) ^ packet.icrc_xor)
    ip, udp = first.headers(8 + len(data))
    return first.wrap(ip, udp, data)


def reth(pair, length, offset=0, rkey=None):
    return struct.pack(">QII", pair["addr"] + offset, pair["rkey"] if rkey is None else rkey, length)


def atomic_eth(pair, offset, swap, compare):
    return struct.pack(">QIQQ", pair["addr"] + offset, pair["rkey"], swap, compare)


def feth(bits):
    return struct.pack(">I", bits)


def aeth(syndrome, msn=0):
    return struct.pack(">I", syndrome << 24 | msn)


def deth(qkey=0x11110003, src=77):
    return struct.pack(">II", qkey, src)


class Target:
    """The process with the queue pairs, and the wire to it."""

    def __init__(self, ns_a, ns_b, family):
        self.family = family
        program = os.path.join(os.environ["VT_BUILD"], "vt_target")
        env = dict(os.environ, HROCE_DEV="nla", HROCE_DEV2="nlb", HROCE_FAMILY=family)
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        self.ns_a, self.ns_b = ns_a, ns_b
        self.socket = self.socket_in(ns_a, "ea")
        self.socket_b = self.socket_in(ns_b, "eb")
        self.mac_a, self.mac_b = self.mac(ns_a, "ea"), self.mac(ns_b, "eb")
        self.ip_a = self.ip_b = b""
        self.pair = {}
        self.sent = 0

    @staticmethod
    def socket_in(namespace, device, protocol=0):
        libc = ctypes.CDLL(None, use_errno=True)
        with open("/proc/self/ns/net", "rb") as here, open("/run/netns/" + namespace, "rb") as there:
            if libc.setns(there.fileno(), 0x40000000):
                raise OSError(ctypes.get_errno(), "setns")
            out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            out.bind((device, protocol))
            libc.setns(here.fileno(), 0x40000000)
        return out

    @staticmethod
    def mac(namespace, device):
        text = subprocess.run(["ip", "-n", namespace, "-br", "link", "show", device], stdout=subprocess.PIPE,
                              text=True, check=True).stdout
        return bytes.fromhex(text.split()[2].replace(":", ""))

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def hear(self, command):
        answer = self.process.stdout.readline().strip()
        if not answer:
            raise Failure(f"the target process died at '{command}'")
        return answer

    def ask(self, command):
        self.tell(command)
        return self.hear(command)

    def new(self, kind):
        words = dict(word.split("=") for word in self.ask("new " + kind).split()[1:])
        addresses = [bytes.fromhex(words.pop(name)) for name in ("gid_a", "gid_b")]
        self.ip_a, self.ip_b = [a[12:] if self.family == "4" else a for a in addresses]
        self.pair = {name: int(value) for name, value in words.items()}
        self.sent = 0

    def psn(self, ahead=0):
        return self.pair["psn"] + self.sent + ahead

    def check(self, what="check"):
        answer = self.ask(what)
        if not answer.startswith("ok"):
            raise Failure(f"{what}: {answer}")
        self.sent = int(answer.split("=")[1])

    def send(self, frame):
        self.socket.send(frame if len(frame) >= 60 else frame + bytes(60 - len(frame)))


def heard(sock, mac):
    """RoCE packets from @mac that wait in a packet socket: each from its IP header on, and the length of that."""
    while True:
        try:
            frame = sock.recv(65536, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        ip = frame[14:]
        length, protocol = (20, ip[9]) if ip[0] >> 4 == 4 else (40, ip[6])
        udp = ip[length:length + 8]
        if frame[6:12] == mac and protocol == 17 and udp[2:4] == struct.pack(">H", PORT):
            yield ip[:length + struct.unpack(">H", udp[4:6])[0]], length


def parted(ip, length):
    """What @ip has between UDP header and ICRC, and whether that is right."""
    transport = ip[length + 8:-4]
    crc = struct.pack("<I", Packet.icrc(ip[:length], ip[length:length + 8], transport))
    return transport, ip[-4:] == crc


def counters():
    """All counters of nlb as they are now.

    The RDMA core keeps what it has read for the life span, and at least until the next jiffy: without the pause the
    first values could be older than the packets of the last check.
    """
    time.sleep(JIFFY)
    with open(COUNTERS + "lifespan", "w", encoding="ascii") as file:
        file.write("0")
    values = {}
    for name in os.listdir(COUNTERS):
        with open(COUNTERS + name, encoding="ascii") as file:
            values[name] = int(file.read())
    return values


def wait_counted(before, name, number, packets=0):
    """Until counter @name has grown by @number, after @packets; return by how much all have grown."""
    end = time.monotonic() + 5
    while True:
        now = counters()
        grown = {key: now[key] - before[key] for key in now if now[key] != before[key]}
        if grown.get(name, 0) >= number and grown.get("rx_packets", 0) >= packets:
            return grown
        if time.monotonic() > end:
            raise Failure(f"{name} should have grown by {number}; this has grown: {grown}")


def only_counted(target, packets, name):
    """Send packets: @name counts each of them, no other drop counter moves."""
    before = counters()
    for packet in packets:
        target.send(packet.frame())
    grown = wait_counted(before, name, len(packets), len(packets))
    for counter, value in grown.items():
        wanted = len(packets) if counter in (name, "rx_packets") else 0
        if value != wanted and (counter.startswith("rx_drop") or counter == "rx_packets"):
            raise Failure(f"{counter} has grown by {value}, expected {wanted}; all: {grown}")
    return grown


def dropped(kind, name, change, number=5):
    """A case: packets that must vanish without harm."""
    def run(target):
        target.new(kind)
        target.check()
        # A datagram is looked at more closely once there is a place for it.
        if kind == "ud":
            target.ask(f"post {number}")
        packets = []
        for _ in range(number):
            packet = good(target, kind)
            change(target, packet)
            packets.append(packet)
        only_counted(target, packets, name)
        target.check("neighbour" if kind == "ud" else "check")
    return run


def good(target, kind):
    """A packet that the queue pair would take."""
    if kind == "rc":
        return Packet(target, RC_SEND_ONLY, target.psn(), b"x" * 100)
    if kind == "uc":
        return Packet(target, UC_SEND_ONLY, target.psn(), b"x" * 100)
    return Packet(target, UD_SEND_ONLY, 0, b"x" * 100, deth(src=target.pair["qpn_a"]))


def change(**fields):
    """A change that sets fields of a packet."""
    def apply(_, packet):
        for name, value in fields.items():
            setattr(packet, name, value)
    return apply


def fatal(make, status=None):
    """A case: a request that the responder must refuse, which ends the connection; only this one."""
    def run(target):
        target.new("rc")
        target.check()
        if status is not None:
            target.ask("post 1")
        before = counters()
        for packet in make(target):
            target.send(packet.frame())
        wait_counted(before, "responder_errors", 1)
        end = time.monotonic() + 5
        while target.ask("state").split()[2] != "6":
            if time.monotonic() > end:
                raise Failure("the queue pair is not in error: " + target.ask("state"))
        if status is not None:
            seen = target.ask("wc").split()
            if seen[1] != str(status):
                raise Failure(f"completion status {seen}, expected {status}")
        grown = wait_counted(before, "responder_errors", 1)
        if grown["responder_errors"] != 1:
            raise Failure(f"{grown}")
        target.check("neighbour")
    return run


def control_ud(target):
    """What is built here is right: a datagram without any mistake arrives."""
    target.new("ud")
    target.ask("post 1")
    before = counters()
    target.send(good(target, "ud").frame())
    answer = target.ask("wc")
    if answer != "wc 0 140":
        raise Failure(f"{answer}; {wait_counted(before, 'rx_packets', 1)}")
    if b"x" * 80 not in bytes.fromhex(target.ask("data")):
        raise Failure("other data arrived")


def control_uc(target):
    target.new("uc")
    target.ask("post 1")
    target.send(good(target, "uc").frame())
    answer = target.ask("wc")
    if answer != "wc 0 100":
        raise Failure(answer)


def reset_target(target):
    target.new("rc")
    target.ask("reset")
    only_counted(target, [good(target, "rc") for _ in range(5)], "rx_drop_qp_state")
    target.check("neighbour")


def no_receive(kind):
    def run(target):
        target.new(kind)
        only_counted(target, [good(target, kind) for _ in range(5 if kind == "ud" else 1)], "rx_drop_no_wqe")
        target.check("neighbour")
    return run


class Switched:
    """A switch of nlb has another position."""

    def __init__(self, name, value):
        self.file = SWITCHES + name
        self.value = str(value)
        self.old = ""

    def set(self, value):
        with open(self.file, "w", encoding="ascii") as file:
            file.write(value)

    def __enter__(self):
        with open(self.file, encoding="ascii") as file:
            self.old = file.read()
        self.set(self.value)

    def __exit__(self, *_):
        self.set(self.old)


def psn_ahead(target):
    """A gap, and nothing may be kept: the first packet behind it asks for a repeat, none is taken."""
    with Switched("keep_mb", 0):
        nothing_kept(target)


def nothing_kept(target):
    target.new("rc")
    target.check()
    before = counters()
    for i in range(5):
        target.send(Packet(target, RC_SEND_ONLY, target.psn(10 + i), b"y" * 64).frame())
    grown = wait_counted(before, "rx_drop_psn", 4, 5)
    if grown.get("nak_seq_sent", 0) != 1 or grown["rx_packets"] != 5:
        raise Failure(f"one NAK for one gap, not {grown}")
    target.check()


def psn_far_ahead(target):
    """What no peer can have in flight asks for nothing."""
    target.new("rc")
    target.check()
    before = counters()
    for ahead in ((1 << 18) + 1, 1 << 20, (1 << 23) - 1):
        target.send(Packet(target, RC_SEND_ONLY, target.psn(ahead), b"y" * 64).frame())
    grown = wait_counted(before, "rx_drop_psn", 3)
    if grown["rx_drop_psn"] != 3 or grown.get("nak_seq_sent"):
        raise Failure(f"no NAK for invented PSNs, not {grown}")
    target.check()


def duplicates(target):
    """What was there before is acknowledged again and not executed again."""
    target.new("rc")
    target.check()
    before = counters()
    for _ in range(5):
        target.send(Packet(target, RC_WRITE_ONLY, target.psn(-1), b"z" * 64, reth(target.pair, 64)).frame())
    grown = wait_counted(before, "duplicates", 5)
    if grown["duplicates"] != 5 or grown.get("responder_errors"):
        raise Failure(f"{grown}")
    if b"z" * 64 in bytes.fromhex(target.ask("data")):
        raise Failure("a duplicate was executed")
    target.check()


def responses(target):
    """Answers to what nobody asked."""
    target.new("rc")
    target.check()
    target.qpn = target.pair["qpn_b"]
    packets = []
    for opcode, ext, data in ((RC_ACK, aeth(0), b""), (RC_ACK, aeth(0x60), b""), (RC_ACK, aeth(0x21), b""),
                              (RC_ACK, aeth(0x63), b""), (RC_READ_RESPONSE_ONLY, aeth(0), b"q" * 64),
                              (RC_ATOMIC_ACK, aeth(0) + bytes(8), b"")):
        for ahead in (0, 5, -3, 0x700000):
            packets.append(Packet(target, opcode, target.psn(ahead), data, ext))
    only_counted(target, packets, "rx_drop_stale_ack")
    target.check()


def joined_ack(target):
    """A request and an ACK in one datagram are as good as in two, each judged by itself."""
    target.new("rc")
    target.check()
    before = counters()
    for xor, ack_xor in ((0, 0), (0, 1), (1, 0), (0, 0)):
        request = Packet(target, RC_WRITE_ONLY, target.psn(-1), b"z" * 8, reth(target.pair, 8))
        ack = Packet(target, RC_ACK, target.psn(5), b"", aeth(0))
        request.icrc_xor, ack.icrc_xor = xor, ack_xor
        target.send(joined(request, ack))
    grown = wait_counted(before, "duplicates", 3, 8)
    wanted = {"duplicates": 3, "rx_drop_stale_ack": 4, "rx_drop_icrc": 1, "rx_packets": 8, "rx_frames": 4}
    # An ACK of no request is dropped before its ICRC is looked at.
    if any(grown.get(name, 0) != value for name, value in wanted.items()):
        raise Failure(f"{grown}, expected {wanted}")
    target.check()


def joined_alone(target):
    """The mark without a second packet: both halves are wrong."""
    target.new("rc")
    target.check()
    before = counters()
    packet = Packet(target, RC_SEND_ONLY, target.psn(), b"x" * 24)
    packet.joined = 1
    target.send(packet.frame())
    grown = wait_counted(before, "rx_drop_icrc", 1, 2)
    if grown.get("rx_drop_version", 0) != 1 or grown["rx_packets"] != 2:
        raise Failure(f"{grown}")
    target.check()


def uc_sequence(target):
    target.new("uc")
    target.check()
    packets = [Packet(target, UC_SEND_MIDDLE, target.psn(i), b"m" * 1024) for i in range(4)]
    packets.append(Packet(target, UC_SEND_LAST, target.psn(4), b"m" * 10))
    only_counted(target, packets, "rx_drop_sequence")
    target.check()


def uc_access(target):
    target.new("uc")
    target.check()
    packets = [Packet(target, UC_WRITE_ONLY, target.psn(i), b"w" * 64, reth(target.pair, 64, rkey=4711 + i))
               for i in range(5)]
    only_counted(target, packets, "rx_drop_access")
    target.check("neighbour")


def unattached_group(target):
    """Multicast to a group that nobody joined: counted as such."""
    target.new("ud")
    before = counters()
    for _ in range(5):
        packet = good(target, "ud")
        packet.qpn = 0xffffff
        if target.family == "4":
            packet.dst = bytes([239, 9, 9, 9])
            packet.mac_dst = bytes.fromhex("01005e090909")
        else:
            packet.dst = bytes.fromhex("ff150000000000000000000000000909")
            packet.mac_dst = bytes.fromhex("333300000909")
        target.send(packet.frame())
    target.check()
    wait_counted(before, "rx_drop_mcast", 5)


def tiny_segments(target):
    """Super-packets as a guest may describe them: no more than 128 packets each, however small those are."""
    target.new("rc")
    target.check()
    packet = good(target, "rc")
    ip_len = 20 if target.family == "4" else 40
    # struct virtio_net_hdr: checksum needed, VIRTIO_NET_HDR_GSO_UDP_L4, gso_size 1
    header = struct.pack("=BBHHHH", 1, 5, 14 + ip_len + 8, 1, 14 + ip_len, 6)
    before = counters()
    target.socket.setsockopt(263, 15, 1)    # SOL_PACKET, PACKET_VNET_HDR
    try:
        target.socket.send(header + packet.frame())
        packet.payload = b"x" * 3000
        target.socket.send(header + packet.frame())
        raise Failure("the kernel takes a super-packet of more than 128")
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        target.socket.setsockopt(263, 15, 0)
    grown = wait_counted(before, "rx_drop_short", 1, 1)
    if grown["rx_packets"] > 128:
        raise Failure(f"{grown}")
    target.check()


def not_for_us(target):
    """Other ports, other addresses, other protocols: not even looked at."""
    target.new("rc")
    target.check()
    before = counters()
    for number in range(5):
        for fields in ({"dport": 4790}, {"dst": bytes(len(target.ip_b) - 1) + b"\x63"}):
            packet = good(target, "rc")
            packet.icrc_xor = number + 1
            change(**fields)(target, packet)
            target.send(packet.frame())
    target.check()
    now = counters()
    if now["rx_drop_icrc"] != before["rx_drop_icrc"]:
        raise Failure("foreign packets were counted")


def spoilt_behind_good(target):
    """A packet from the same sender right behind a good one: what its own IP header says counts."""
    # Byte of the IP header or of the ports, bits to change, and whether the checksum is made right.
    changes = ((10, 1, False), (3, 4, False), (5, 1, False), (0, 1, True), (0, 0x20, True), (6, 0x20, True),
               (7, 1, True), (9, 0x10, True), (12, 0x80, False), (19, 0x40, True), (23, 1, True))
    target.new("rc")
    target.check()
    before = counters()
    for at, bits, repair in changes:
        for _ in range(5):
            packet = good(target, "rc")
            packet.icrc_xor = 1
            target.send(packet.frame())
            frame = bytearray(packet.frame())
            frame[14 + at] ^= bits
            if repair:
                frame[24:26] = bytes(2)
                frame[24:26] = struct.pack(">H", checksum(bytes(frame[14:34])))
            target.send(bytes(frame))
    number = 5 * len(changes)
    grown = wait_counted(before, "rx_drop_icrc", number)
    if grown["rx_drop_icrc"] != number or grown["rx_packets"] != number:
        raise Failure(f"expected {number} packets; this has grown: {grown}")
    target.check()


def random_packets(target):
    """Whatever comes, with a right ICRC or not: nobody else notices, every packet is counted."""
    rng = random.Random(20)
    for kind in ("rc", "uc", "ud"):
        target.new(kind)
        target.ask("post 20")
        before = counters()
        for _ in range(400):
            packet = good(target, kind)
            packet.opcode = rng.randrange(256)
            packet.psn = target.psn(rng.choice((0, 1, -1, rng.randrange(1 << 24))))
            packet.ext = rng.randbytes(rng.choice((0, 4, 8, 12, 16, 28)))
            packet.payload = rng.randbytes(rng.choice((0, 1, 3, 64, 1024, 1025, rng.randrange(3000))))
            packet.pad = rng.choice((None, None, rng.randrange(4)))
            packet.flags = rng.choice((0, 0x80, 0x40, 0xc0))
            packet.cut = rng.choice((0, 0, 0, rng.randrange(12)))
            packet.ack = rng.randrange(2)
            packet.icrc_xor = rng.choice((0, 0, 0, 1))
            if kind == "rc" and target.ask("state").split()[2] == "6":
                target.new("rc")
                packet.qpn = target.pair["qpn_b"]
            target.send(packet.frame())
        wait_counted(before, "rx_packets", 400)
        target.check("neighbour")


def random_bytes(target):
    """Frames cut anywhere, and with any byte changed, not repaired."""
    rng = random.Random(21)
    target.new("rc")
    for _ in range(1500):
        frame = bytearray(good(target, "rc").frame())
        for _ in range(rng.randrange(1, 4)):
            frame[rng.randrange(14, len(frame))] = rng.randrange(256)
        target.send(bytes(frame[:rng.choice((len(frame), rng.randrange(15, len(frame)))) ]))
    target.check("neighbour")


DROP = {
    "control_ud": control_ud,
    "control_uc": control_uc,
    "empty_udp": dropped("rc", "rx_drop_short", change(cut=112, no_icrc=True)),
    "half_a_bth": dropped("rc", "rx_drop_short", change(cut=106)),
    "bth_without_icrc": dropped("rc", "rx_drop_short", change(payload=b"", no_icrc=True)),
    "no_room_for_reth": dropped("rc", "rx_drop_short", change(opcode=RC_WRITE_ONLY, payload=b"12345678")),
    "no_room_for_aeth": dropped("rc", "rx_drop_short", change(opcode=RC_ACK, payload=b"")),
    "no_room_for_deth": dropped("ud", "rx_drop_short", change(ext=b"", payload=b"1234")),
    "no_room_for_atomic": dropped("rc", "rx_drop_short", change(opcode=RC_FETCH_ADD, payload=b"1" * 24)),
    "no_room_for_feth": dropped("rc", "rx_drop_short", change(opcode=RC_FLUSH, payload=b"1" * 16)),
    "udp_longer_than_ip": dropped("rc", "rx_drop_length", change(udp_len_add=8)),
    "pad_without_payload": dropped("rc", "rx_drop_length", change(payload=b"", pad=3)),
    "flush_with_payload": dropped("rc", "rx_drop_length", change(opcode=RC_FLUSH, payload=b"1" * 24)),
    "uc_longer_than_mtu": dropped("uc", "rx_drop_length", change(payload=b"x" * 1028), number=1),
    "version_1": dropped("rc", "rx_drop_version", change(version=1)),
    "version_15": dropped("ud", "rx_drop_version", change(version=15)),
    "opcode_reserved": dropped("rc", "rx_drop_opcode", change(opcode=0x1f)),
    "opcode_of_rd": dropped("rc", "rx_drop_opcode", change(opcode=0x44)),
    "opcode_of_xrc": dropped("rc", "rx_drop_opcode", change(opcode=0xa4)),
    "opcode_ff": dropped("ud", "rx_drop_opcode", change(opcode=0xff)),
    "uc_opcode_on_rc": dropped("rc", "rx_drop_opcode", change(opcode=UC_SEND_ONLY)),
    "rc_opcode_on_uc": dropped("uc", "rx_drop_opcode", change(opcode=RC_SEND_ONLY)),
    "rc_opcode_on_ud": dropped("ud", "rx_drop_opcode", change(opcode=RC_SEND_ONLY)),
    "icrc_one_bit_rc": dropped("rc", "rx_drop_icrc", change(icrc_xor=1)),
    "icrc_one_bit_uc": dropped("uc", "rx_drop_icrc", change(icrc_xor=0x80000000)),
    "icrc_one_bit_ud": dropped("ud", "rx_drop_icrc", change(icrc_xor=0x10000)),
    "icrc_inverted": dropped("rc", "rx_drop_icrc", change(icrc_xor=0xffffffff)),
    "icrc_wrong_on_write": dropped(
        "rc", "rx_drop_icrc",
        lambda t, p: change(opcode=RC_WRITE_ONLY, ext=reth(t.pair, 100), icrc_xor=4)(t, p)),
    "joined_too_short": dropped("rc", "rx_drop_no_qp", change(payload=b"x" * 20, joined=1, qpn=0xfffff1)),
    "pkey_other": dropped("rc", "rx_drop_pkey", change(pkey=0x9234)),
    "pkey_zero": dropped("ud", "rx_drop_pkey", change(pkey=0)),
    "qkey_other": dropped("ud", "rx_drop_qkey", change(ext=deth(qkey=5))),
    "qpn_unknown": dropped("rc", "rx_drop_no_qp", change(qpn=0xfffff1)),
    "qpn_zero": dropped("rc", "rx_drop_no_qp", change(qpn=0)),
    "other_peer": dropped("rc", "rx_drop_peer", lambda t, p: change(src=p.src[:-1] + b"\x4d")(t, p)),
    "other_peer_uc": dropped("uc", "rx_drop_peer", lambda t, p: change(src=p.src[:-1] + b"\x4d")(t, p)),
    "queue_pair_in_reset": reset_target,
    "no_receive_uc": no_receive("uc"),
    "no_receive_ud": no_receive("ud"),
    "psn_ahead": psn_ahead,
    "psn_far_ahead": psn_far_ahead,
    "duplicates": duplicates,
    "joined_ack": joined_ack,
    "joined_alone": joined_alone,
    "responses_to_nothing": responses,
    "uc_sequence": uc_sequence,
    "uc_access": uc_access,
    "unattached_group": unattached_group,
    "tiny_segments": tiny_segments,
    "not_for_us": not_for_us,
    "spoilt_behind_good": spoilt_behind_good,
    "write_wrong_rkey": fatal(
        lambda t: [Packet(t, RC_WRITE_ONLY, t.psn(), b"w" * 64, reth(t.pair, 64, rkey=4711))]),
    "write_beyond_the_end": fatal(
        lambda t: [Packet(t, RC_WRITE_ONLY, t.psn(), b"w" * 64, reth(t.pair, 64, t.pair["len"] - 60))]),
    "write_shorter_than_said": fatal(
        lambda t: [Packet(t, RC_WRITE_ONLY, t.psn(), b"w" * 64, reth(t.pair, 65))]),
    "write_longer_than_said": fatal(
        lambda t: [Packet(t, RC_WRITE_ONLY, t.psn(), b"w" * 64, reth(t.pair, 8))]),
    "write_length_absurd": fatal(
        lambda t: [Packet(t, RC_WRITE_FIRST, t.psn(), b"w" * 1024, reth(t.pair, 0xffffffff))]),
    "write_first_not_full": fatal(
        lambda t: [Packet(t, RC_WRITE_FIRST, t.psn(), b"w" * 1000, reth(t.pair, 2000))]),
    "write_goes_on_too_long": fatal(
        lambda t: [Packet(t, RC_WRITE_FIRST, t.psn(), b"w" * 1024, reth(t.pair, 2048)),
                   Packet(t, RC_WRITE_MIDDLE, t.psn(1), b"w" * 1024),
                   Packet(t, RC_WRITE_MIDDLE, t.psn(2), b"w" * 1024)]),
    "read_length_absurd": fatal(lambda t: [Packet(t, RC_READ, t.psn(), b"", reth(t.pair, 0x80000001))]),
    "read_wrong_rkey": fatal(lambda t: [Packet(t, RC_READ, t.psn(), b"", reth(t.pair, 64, rkey=1))]),
    "cas_misaligned": fatal(lambda t: [Packet(t, RC_CMP_SWAP, t.psn(), b"", atomic_eth(t.pair, 4, 1, 1))]),
    "faa_misaligned": fatal(lambda t: [Packet(t, RC_FETCH_ADD, t.psn(), b"", atomic_eth(t.pair, 1, 1, 1))]),
    "atomic_write_misaligned": fatal(
        lambda t: [Packet(t, RC_ATOMIC_WRITE, t.psn(), b"w" * 8, reth(t.pair, 8, 4))]),
    "atomic_write_shorter_than_said": fatal(
        lambda t: [Packet(t, RC_ATOMIC_WRITE, t.psn(), b"w" * 4, reth(t.pair, 8))]),
    "atomic_write_of_16_bytes": fatal(
        lambda t: [Packet(t, RC_ATOMIC_WRITE, t.psn(), b"w" * 16, reth(t.pair, 16))]),
    "atomic_write_of_nothing": fatal(lambda t: [Packet(t, RC_ATOMIC_WRITE, t.psn(), b"", reth(t.pair, 0))]),
    "atomic_write_inside_send": fatal(
        lambda t: [Packet(t, RC_SEND_FIRST, t.psn(), b"m" * 1024),
                   Packet(t, RC_ATOMIC_WRITE, t.psn(1), b"w" * 8, reth(t.pair, 8))], status=9),
    "flush_without_right": fatal(lambda t: [Packet(t, RC_FLUSH, t.psn(), b"", feth(1) + reth(t.pair, 64))]),
    "flush_of_no_kind": fatal(lambda t: [Packet(t, RC_FLUSH, t.psn(), b"", feth(0) + reth(t.pair, 64))]),
    "middle_without_first": fatal(lambda t: [Packet(t, RC_SEND_MIDDLE, t.psn(), b"m" * 1024)]),
    "write_inside_send": fatal(
        lambda t: [Packet(t, RC_SEND_FIRST, t.psn(), b"m" * 1024),
                   Packet(t, RC_WRITE_ONLY, t.psn(1), b"w" * 64, reth(t.pair, 64))], status=9),
    "send_longer_than_receive": fatal(
        lambda t: [Packet(t, RC_SEND_FIRST if i == 0 else RC_SEND_MIDDLE, t.psn(i), b"m" * 1024) for i in range(9)],
        status=1),
    "random_packets": random_packets,
    "random_bytes": random_bytes,
}

# Over IPv6 the parser below the transport headers is another one; the rest is not.
OVER_IPV6 = ("control_ud", "control_uc", "half_a_bth", "udp_longer_than_ip", "pad_without_payload", "opcode_reserved",
             "icrc_one_bit_rc", "icrc_one_bit_ud", "qpn_unknown", "other_peer", "unattached_group", "not_for_us",
             "write_wrong_rkey", "random_packets", "random_bytes")


def run_cases(report, target, suite, cases):
    """Run functions, a dictionary by name, and end the target."""
    for name, case in cases.items():
        name = f"{suite}.{name}_ipv{target.family}"
        try:
            case(target)
            report.case(name, True)
        except (Failure, OSError) as error:
            report.case(name, False, error)
    target.process.stdin.close()
    target.process.wait()


def main():
    ns_a, ns_b, family = sys.argv[1:4]
    names = sys.argv[4:] or (DROP if family == "4" else OVER_IPV6)
    report = tap.Tap(len(names))
    target = Target(ns_a, ns_b, family)
    for name in names:
        try:
            DROP[name](target)
            report.case(f"inject.{name}_ipv{family}", True)
        except (Failure, OSError) as error:
            report.case(f"inject.{name}_ipv{family}", False, error)
            if target.process.poll() is not None:
                target = Target(ns_a, ns_b, family)
    target.process.stdin.close()
    target.process.wait()
    sys.exit(report.done())


if __name__ == "__main__":
    main()
