# SPDX-License-Identifier: GPL-2.0
"""The checksum of IP, UDP and ICMP."""

import struct


def checksum(data):
    """The one's complement of the one's complement sum of all 16-bit words (RFC 1071)."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff
