#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Record what hroce peers agree on, as frames and a manifest that says what is in them.

usage: record.py NETDEV FILE MANIFEST READY

Takes the first frame of each kind that passes NETDEV, until all have come or SIGTERM. Appends to MANIFEST. Every field is
read from the bytes here, and the ICRC is computed with zlib, so nothing of hroce's own code has a part in that.
"""

import ipaddress
import signal
import socket
import struct
import sys
import zlib

PORT = 4791
COLUMNS = ("file frame expect l3 vlan tos src dst sport udpcsum opcode name se m pad tver pkey fecn becn resv6 dqpn ackreq "
           "resv7 psn ext payload icrc icrc_computed").split()
LONGER = 0x40
JOINED = 0x20
ACK_LEN = 20
ACK = (0x11, "RC_ACK", "aeth", lambda p: True)
# Opcode, name, extended headers, and what else makes it one of that kind.
KINDS = {
    "ask": (0xc0, "HROCE_SACK_ASK", "", lambda p: True),
    "sack": (0xc1, "HROCE_SACK", "aeth", lambda p: p.rest[0] == 0x60 and p.payload % 8 == 0),
    "later": (0xc1, "HROCE_SACK", "aeth", lambda p: p.payload % 8 == 4),
    "known": (0xc1, "HROCE_SACK", "aeth", lambda p: not p.payload),
    "again": (0xc1, "HROCE_SACK", "aeth", lambda p: p.rest[0] == 0x1f and p.payload == 8),
    "mtu_ask": (0xc2, "HROCE_MTU_ASK", "", lambda p: True),
    "mtu": (0xc3, "HROCE_MTU", "", lambda p: True),
    "second_ask": (0xc4, "HROCE_SECOND_ASK", "", lambda p: True),
    "second": (0xc5, "HROCE_SECOND", "", lambda p: True),
    "write": (0x06, "RC_WRITE_FIRST", "reth", lambda p: p.bth[8] & LONGER),
    "read": (0x0c, "RC_READ_REQ", "reth", lambda p: p.bth[8] & LONGER),
    "answer": (0x0d, "RC_READ_RESP_FIRST", "aeth", lambda p: p.bth[8] & LONGER),
    "joined": (0x04, "RC_SEND_ONLY", "", lambda p: True),
}
EXT_LEN = {"": 0, "aeth": 4, "reth": 16}


class Packet:
    """A packet with IP and UDP headers as they are if it has a datagram of its own."""

    def __init__(self, ip, udp, body, nth=0):
        self.ipv6 = ip[0] >> 4 == 6
        ip, udp = bytearray(ip), bytearray(udp)
        struct.pack_into("!H", udp, 4, len(udp) + len(body))
        if self.ipv6:
            struct.pack_into("!H", ip, 4, len(udp) + len(body))
        else:
            ident, = struct.unpack_from("!H", ip, 4)
            struct.pack_into("!HH", ip, 2, len(ip) + len(udp) + len(body), ident + nth & 0xffff)
        self.ip, self.udp = bytes(ip), bytes(udp)
        self.sport, self.sum = struct.unpack_from("!H4xH", udp)
        self.bth, self.rest, self.icrc = body[:12], body[12:-4], body[-4:]
        self.name = self.ext = ""
        self.payload = 0

    def is_kind(self, opcode, name, ext, more):
        if self.bth[0] != opcode:
            return False
        self.name, self.ext = name, ext
        self.payload = len(self.rest) - EXT_LEN[ext] - (self.bth[1] >> 4 & 3)
        return bool(more(self))

    def computed(self):
        """The ICRC by A17.3.3."""
        ip, udp, bth = bytearray(self.ip), bytearray(self.udp), bytearray(self.bth)
        if self.ipv6:
            ip[0] |= 0x0f
            ip[1:4] = b"\xff" * 3
            ip[7] = 0xff
        else:
            ip[1] = ip[8] = 0xff
            ip[10:12] = b"\xff" * 2
        udp[6:8] = b"\xff" * 2
        bth[4] = 0xff
        return struct.pack("<I", zlib.crc32(b"\xff" * 8 + ip + udp + bth + self.rest))

    def extended(self):
        if self.ext == "aeth":
            word, = struct.unpack_from("!I", self.rest)
            return f"syndrome={word >> 24:#04x},msn={word & 0xffffff:#08x}"
        if self.ext == "reth":
            return "va={:#018x},rkey={:#010x},dmalen={:#010x}".format(*struct.unpack_from("!QII", self.rest))
        return "-"

    def row(self, file, number):
        opcode, flags, pkey, dqpn, psn = struct.unpack("!BBHII", self.bth)
        source, dest = (self.ip[8:24], self.ip[24:40]) if self.ipv6 else (self.ip[12:16], self.ip[16:20])
        address = bytes.hex if self.ipv6 else lambda raw: str(ipaddress.IPv4Address(raw))
        tos = struct.unpack_from("!H", self.ip)[0] >> 4 & 0xff if self.ipv6 else self.ip[1]
        return (file, number, "OK", "ipv6" if self.ipv6 else "ipv4", "-", f"{tos:#04x}", address(source), address(dest),
                self.sport, f"{self.sum:#06x}", f"{opcode:#04x}", self.name, flags >> 7, flags >> 6 & 1, flags >> 4 & 3,
                flags & 15, f"{pkey:#06x}", dqpn >> 31, dqpn >> 30 & 1, f"{dqpn >> 24 & 0x3f:#04x}",
                f"{dqpn & 0xffffff:#08x}", psn >> 31, f"{psn >> 24 & 0x7f:#04x}", f"{psn & 0xffffff:#08x}",
                self.extended(), self.payload, self.icrc.hex(), self.computed().hex())


def packets(frame):
    """Those of a frame: two if an ACK has joined a request. ValueError if it is not RoCEv2."""
    kind, = struct.unpack_from("!H", frame, 12)
    if kind not in (0x800, 0x86dd):
        raise ValueError
    ip = frame[14:54 if kind == 0x86dd else 34]
    if ip[6 if kind == 0x86dd else 9] != socket.IPPROTO_UDP:
        raise ValueError
    at = 14 + len(ip)
    udp = frame[at:at + 8]
    port, length = struct.unpack_from("!HH", udp, 2)
    body = frame[at + 8:at + length]
    if port != PORT or len(body) != length - 8 or length < 24:
        raise ValueError
    if not body[4] & JOINED or len(body) < 2 * ACK_LEN:
        return [Packet(ip, udp, body)]
    return [Packet(ip, udp, body[:-ACK_LEN]), Packet(ip, udp, body[-ACK_LEN:], 1)]


def is_kind(kind, found):
    if (kind == "joined") != (len(found) == 2):
        return False
    return found[0].is_kind(*KINDS[kind]) and all(packet.is_kind(*ACK) for packet in found[1:])


def record(netdev, ready):
    missing, frames = list(KINDS), []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(f"missing: {' '.join(missing)}"))
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    sock.bind((netdev, 0))
    with open(ready, "w", encoding="ascii"):
        pass
    while missing:
        frame = sock.recv(1 << 16)
        try:
            found = packets(frame)
        except ValueError:
            continue
        for kind in missing:
            if is_kind(kind, found):
                if any(packet.computed() != packet.icrc for packet in found):
                    raise SystemExit(f"{kind}: the ICRC is wrong")
                frames.append((frame, found))
                missing.remove(kind)
                break
    return frames


def main():
    netdev, path, manifest, ready = sys.argv[1:]
    frames = record(netdev, ready)
    name = path.rsplit("/", 1)[-1]
    with open(path, "w", encoding="ascii") as file, open(manifest, "a", encoding="ascii") as rows:
        print("# SPDX-License-Identifier: GPL-2.0", file=file)
        if not rows.tell():
            print("# SPDX-License-Identifier: GPL-2.0", file=rows)
            print(*COLUMNS, sep="\t", file=rows)
        for number, (frame, found) in enumerate(frames, 1):
            what = (f"name={packet.name} psn={int.from_bytes(packet.bth[9:12], 'big'):#08x}" for packet in found)
            print("\n#:", ", ".join(what), file=file)
            text = frame.hex()
            for at in range(0, len(text), 120):
                print(text[at:at + 120], file=file)
            for packet in found:
                print(*packet.row(name, number), sep="\t", file=rows)


if __name__ == "__main__":
    main()
