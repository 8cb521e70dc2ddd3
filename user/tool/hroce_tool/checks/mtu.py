# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The MTU of the netdev, and that of routes over it."""
import re

from .. import system
from ..finding import command, error, warning
from ..netdev import HEADERS, roce_mtu


def routes(netdev):
    """Those with an MTU of their own: "-4" or "-6", destination, MTU."""
    for family, route in netdev.routes():
        for metrics in route.get("metrics") or []:
            if "mtu" in metrics:
                yield family, route["dst"], int(metrics["mtu"])


def without_mtu(family, dst, netdev):
    """A list: the route in the words of `ip route`, without its MTU."""
    shown = system.run("ip", family, "route", "show", dst, "dev", netdev.name).out.split("\n", 1)[0]
    shown = re.sub(r" mtu (lock )?\d+| linkdown| dead| pref \w+", "", shown).strip()
    return [*shown.split(), "dev", netdev.name]


def check(links):
    found = []
    for link in links:
        for netdev in link.netdevs():
            size = roce_mtu(netdev.mtu)
            if size < 1024:
                found.append((warning if size else error)(
                    "mtu-small", netdev.name, f"The MTU of {netdev.name} is {netdev.mtu}.",
                    f"Packets of {link.name} carry {size} bytes." if size else f"The port of {link.name} is down.",
                    command("ip", "link", "set", "dev", netdev.name, "mtu", 1500)))
            for family, dst, mtu in routes(netdev):
                if mtu >= size + HEADERS or mtu >= netdev.mtu:
                    continue
                found.append(error("route-mtu", netdev.name,
                                   f"The route to {dst} has MTU {mtu}, and packets of {link.name} carry {size} bytes.",
                                   "RoCEv2 does not fragment: packets of full size are not sent.",
                                   command("ip", family, "route", "replace", *without_mtu(family, dst, netdev))))
    return found
