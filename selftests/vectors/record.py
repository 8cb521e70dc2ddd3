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
}
EXT_LEN = {"": 0, "aeth": 4, "reth": 16}


class Packet:
    """A frame with RoCEv2 in it, else ValueError."""

    def __init__(self, frame):
        self.frame = frame
        kind, = struct.unpack_from("!H", frame, 12)
        self.ipv6 = kind == 0x86dd
        if not self.ipv6 and kind != 0x800:
            raise ValueError
        self.ip = frame[14:54 if self.ipv6 else 34]
        if self.ip[6 if self.ipv6 else 9] != socket.IPPROTO_UDP:
            raise ValueError
        at = 14 + len(self.ip)
        self.udp = frame[at:at + 8]
        self.sport, port, length, self.sum = struct.unpack("!4H", self.udp)
        body = frame[at + 8:at + length]
        if port != PORT or len(body) != length - 8 or length < 24:
            raise ValueError
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


def record(netdev, ready):
    missing, found = dict(KINDS), []
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    sock.bind((netdev, 0))
    with open(ready, "w", encoding="ascii"):
        pass
    while missing:
        try:
            packet = Packet(sock.recv(1 << 16))
        except ValueError:
            continue
        for kind, what in list(missing.items()):
            if packet.is_kind(*what):
                if packet.computed() != packet.icrc:
                    raise SystemExit(f"{kind}: the ICRC is wrong")
                found.append(packet)
                del missing[kind]
                break
    return found


def main():
    netdev, path, manifest, ready = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("some kinds are missing"))
    found = record(netdev, ready)
    name = path.rsplit("/", 1)[-1]
    with open(path, "w", encoding="ascii") as file, open(manifest, "a", encoding="ascii") as rows:
        print("# SPDX-License-Identifier: GPL-2.0", file=file)
        if not rows.tell():
            print("# SPDX-License-Identifier: GPL-2.0", file=rows)
            print(*COLUMNS, sep="\t", file=rows)
        for number, packet in enumerate(found, 1):
            print(f"\n#: name={packet.name} psn={int.from_bytes(packet.bth[9:12], 'big'):#08x}", file=file)
            text = packet.frame.hex()
            for at in range(0, len(text), 120):
                print(text[at:at + 120], file=file)
            print(*packet.row(name, number), sep="\t", file=rows)


if __name__ == "__main__":
    main()
