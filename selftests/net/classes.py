#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Count the RoCEv2 frames that leave by a netdev, by opcode and class.

usage: classes.py NETDEV OUT

Creates the file OUT once it listens. On SIGUSR1 writes there a line for each combination that was seen since the last
one, replacing the file:

    opcode=0x04 pcp=3 dscp=26 ecn=2 frames=12

The opcode is that of the first packet in the frame. PCP is the priority in the VLAN tag, "-" without one.
"""
import collections
import os
import select
import signal
import socket
import struct
import sys

ETH_P_ALL = 3
ETH_P_8021Q = 0x8100
PORT = 4791
SOL_PACKET = 263
PACKET_AUXDATA = 8
TP_STATUS_VLAN_VALID = 0x10
AUXDATA = struct.Struct("IIIHHHH")


def tag(frame, control):
    """The TCI of a VLAN tag, which the socket gives aside or the frame contains, and the frame without it."""
    for level, kind, data in control:
        if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
            status, _, _, _, _, tci, _ = AUXDATA.unpack(data[:AUXDATA.size])
            if status & TP_STATUS_VLAN_VALID:
                return tci, frame
    if struct.unpack(">H", frame[12:14])[0] == ETH_P_8021Q:
        return struct.unpack(">H", frame[14:16])[0], frame[:12] + frame[16:]
    return None, frame


def look(frame, control):
    """(opcode, PCP, DSCP, ECN) of a frame; None unless it is RoCEv2."""
    tci, frame = tag(frame, control)
    kind, ip = frame[12:14], frame[14:]
    if kind == b"\x08\x00" and ip[9] == socket.IPPROTO_UDP:
        tos, udp = ip[1], ip[(ip[0] & 15) * 4:]
    elif kind == b"\x86\xdd" and ip[6] == socket.IPPROTO_UDP:
        tos, udp = (ip[0] << 4 | ip[1] >> 4) & 0xff, ip[40:]
    else:
        return None
    if struct.unpack(">H", udp[2:4])[0] != PORT:
        return None
    return udp[8], "-" if tci is None else tci >> 13, tos >> 2, tos & 3


def count(taps, seen):
    """Add what has left to @seen."""
    while True:
        try:
            frame, control, _, address = taps.recvmsg(128, socket.CMSG_SPACE(AUXDATA.size))
        except BlockingIOError:
            return
        if address[2] == socket.PACKET_OUTGOING:
            seen[look(frame, control)] += 1


def write(out, seen):
    del seen[None]
    with open(f"{out}.new", "w", encoding="ascii") as file:
        for (opcode, pcp, dscp, ecn), frames in sorted(seen.items(), key=str):
            print(f"opcode={opcode:#04x} pcp={pcp} dscp={dscp} ecn={ecn} frames={frames}", file=file)
    os.replace(f"{out}.new", out)


def main():
    device, out = sys.argv[1:]
    seen = collections.Counter()
    wakes, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    signal.signal(signal.SIGUSR1, lambda *_: None)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as taps:
        taps.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        taps.bind((device, ETH_P_ALL))
        taps.setblocking(False)
        write(out, seen)
        while True:
            readable, _, _ = select.select([taps, wakes], [], [])
            count(taps, seen)
            if wakes in readable:
                os.read(wakes, 64)
                write(out, seen)
                seen.clear()


if __name__ == "__main__":
    main()
