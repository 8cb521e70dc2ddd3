# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A netdev: its state, addresses, features and queues."""
import ipaddress
import re

from . import system

# What iboe_get_mtu() of the kernel takes off for headers, and the sizes that remain.
HEADERS = 40 + 8 + 12 + 4 + 28 + 4
ROCE_MTUS = (4096, 2048, 1024, 512, 256)
# Queues that someone has made to slow down or damage what is sent.
SHAPERS = ("netem", "tbf", "htb", "hfsc", "cbq", "cake")


def roce_mtu(mtu):
    """The bytes of payload in a packet on a netdev with this MTU; 0 if it is too small."""
    for size in ROCE_MTUS:
        if mtu - HEADERS >= size:
            return size
    return 0


class Netdev:
    def __init__(self, name):
        self.name = name
        self.path = f"/sys/class/net/{name}"

    def details(self):
        shown = system.once_json("ip", "-j", "-d", "link", "show") or []
        return next((entry for entry in shown if entry.get("ifname") == self.name), {})

    @property
    def kind(self):
        """"vlan", "bond", "bridge" and the like; "" for a card."""
        match = re.search(r"^DEVTYPE=(.*)$", system.read(f"{self.path}/uevent", ""), re.M)
        return match[1] if match else ""

    @property
    def ifindex(self):
        return system.read_int(f"{self.path}/ifindex", 0)

    def below(self):
        """The netdevs that this one is made of, as far as they are in this network namespace."""
        return [Netdev(name[len("lower_"):]) for name in system.names(self.path) if name.startswith("lower_")]

    @property
    def mtu(self):
        return system.read_int(f"{self.path}/mtu", 0)

    def addresses(self):
        """Dictionaries of `ip -j address`, with the interface as "interface"."""
        found = []
        for entry in system.once_json("ip", "-j", "address", "show") or []:
            for address in entry.get("addr_info", []):
                if entry.get("ifname") == self.name and "local" in address:
                    text = f"{address['local']}/{address['prefixlen']}"
                    found.append(dict(address, interface=ipaddress.ip_interface(text)))
        return found

    def features(self):
        """Name: is it on? Without those that are off and cannot be otherwise."""
        values = {}
        for line in system.once("ethtool", "-k", self.name).out.splitlines():
            match = re.match(r"\s*([a-z0-9-]+): (on|off(?! \[fixed\]))", line)
            if match:
                values[match[1]] = match[2] == "on"
        return values

    def rings(self):
        """(current, largest) of the receive ring, or None where the driver does not tell."""
        values = re.findall(r"^RX:\s+(\d+)", system.once("ethtool", "-g", self.name).out, re.M)
        return (int(values[1]), int(values[0])) if len(values) == 2 else None

    def pause(self):
        """{"autoneg": bool, "rx": bool, "tx": bool}, or None where there is no flow control."""
        done = system.once("ethtool", "-a", self.name)
        values = dict(re.findall(r"^(Autonegotiate|RX|TX):\s+(on|off)", done.out, re.M))
        if len(values) != 3:
            return None
        return {name: values[key] == "on" for name, key in (("autoneg", "Autonegotiate"), ("rx", "RX"), ("tx", "TX"))}

    def statistic(self, name):
        return system.read_int(f"{self.path}/statistics/{name}", 0)

    def root_qdisc(self):
        """The kind of queue that it sends through, "" if that is not known."""
        shown = system.once_json("tc", "-j", "qdisc", "show") or []
        return next((entry["kind"] for entry in shown if entry.get("dev") == self.name and entry.get("root")), "")

    def routes(self):
        """Pairs of "-4" or "-6" and a route of the main table, as `ip -j route` shows it."""
        return [(family, route) for family in ("-4", "-6")
                for route in system.once_json("ip", family, "-j", "route", "show") or []
                if route.get("dev") == self.name]
