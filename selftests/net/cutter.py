#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""A wire between two tun netdevs that segment UDP: it gets super-packets and cuts them, as a network card does.

usage: cutter.py IDENTIFICATIONS LOSS NAMESPACE:NETDEV NAMESPACE:NETDEV

IDENTIFICATIONS is "counted" if each packet of a super-packet gets an IPv4 identification of its own, or "same" if all get that of the
first. LOSS is the share of packets that get lost, in per cent.
"""

import contextlib
import fcntl
import os
import random
import select
import struct
import sys

import tun

TUNSETOFFLOAD, TUN_F_CSUM, TUN_F_USO4, TUN_F_USO6 = 0x400454d0, 1, 0x20, 0x40
IFF_VNET_HDR, GSO_UDP_L4 = 0x4000, 5
VNET = struct.Struct("=BBHHHH")


def checksum(header):
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def segment(packet, first, payload, index, counted):
    """One packet of a super-packet, without a UDP checksum."""
    ipv4 = packet[0] >> 4 == 4
    header = bytearray(packet[:first])
    if ipv4:
        ident, = struct.unpack_from(">H", header, 4)
        struct.pack_into(">HH", header, 2, first + len(payload), (ident + (index if counted else 0)) & 0xffff)
        struct.pack_into(">H", header, 10, 0)
        struct.pack_into(">H", header, 10, checksum(header[:20]))
    else:
        struct.pack_into(">H", header, 4, first - 40 + len(payload))
    struct.pack_into(">HH", header, first - 4, 8 + len(payload), 0)
    return header + payload


def cut(frame, counted):
    _, kind, _, size, start, offset = VNET.unpack_from(frame)
    packet = frame[VNET.size:]
    if kind != GSO_UDP_L4:
        # A partial checksum of a packet that nobody cuts: send none.
        if start and packet[start:]:
            packet = bytearray(packet)
            if packet[9 if packet[0] >> 4 == 4 else 6] == 17:
                struct.pack_into(">H", packet, start + offset, 0)
        return [packet]
    first = (20 if packet[0] >> 4 == 4 else 40) + 8
    return [segment(packet, first, packet[at:at + size], index, counted)
            for index, at in enumerate(range(first, len(packet), size))]


def main():
    counted = {"counted": True, "same": False}[sys.argv[1]]
    loss = float(sys.argv[2]) / 100
    fds = []
    for end in sys.argv[3:]:
        fds.append(tun.tun(*end.split(":"), IFF_VNET_HDR))
        fcntl.ioctl(fds[-1], TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_USO4 | TUN_F_USO6)
    chance = random.Random(1)
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    while True:
        for fd, _ in poll.poll():
            for packet in cut(os.read(fd, 1 << 17), counted):
                if chance.random() < loss:
                    continue
                # The other end may be down.
                with contextlib.suppress(OSError):
                    os.write(fds[fd == fds[0]], bytes(VNET.size) + packet)


main()
