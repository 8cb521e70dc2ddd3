#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Join tun netdevs of several namespaces: each packet goes to the one whose address it has.

usage: tun.py NAMESPACE:NETDEV:NUMBER...

NUMBER is what selftests/net/lib.sh makes addresses of, "88.0.2" for 10.88.0.2 and fd88::2. A netdev may be named more than once.
"""

import ctypes
import fcntl
import ipaddress
import os
import select
import struct
import sys

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454ca, 1, 0x1000
CLONE_NEWNET = 0x40000000


def setns(fd):
    if ctypes.CDLL(None, use_errno=True).setns(fd, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def tun(namespace, name, flags=0):
    with open(f"/run/netns/{namespace}", "rb") as handle:
        setns(handle.fileno())
    fd = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI | flags))
    return fd


def main():
    ends, netdevs = {}, {}
    for end in sys.argv[1:]:
        namespace, name, number = end.split(":")
        net, _, node = number.split(".")
        if name not in netdevs:
            netdevs[name] = tun(namespace, name)
        fd = netdevs[name]
        ends[ipaddress.ip_address(f"10.{number}").packed] = fd
        ends[ipaddress.ip_address(f"fd{net}::{node}").packed] = fd
    poll = select.poll()
    for fd in set(ends.values()):
        poll.register(fd, select.POLLIN)
    while True:
        for fd, _ in poll.poll():
            packet = os.read(fd, 65536)
            target = ends.get(packet[16:20] if packet[0] >> 4 == 4 else packet[24:40])
            if target is not None:
                os.write(target, packet)


if __name__ == "__main__":
    main()
