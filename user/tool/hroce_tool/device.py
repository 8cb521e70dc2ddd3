# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""RDMA devices of this node, and which of them are links of hroce."""
import ipaddress
import os
import re
from dataclasses import dataclass

from . import system
from .netdev import Netdev

PORT = 1


@dataclass(frozen=True)
class Gid:
    index: int
    address: ipaddress.IPv6Address
    type: str
    netdev: str

    @property
    def ip(self):
        return self.address.ipv4_mapped or self.address


class Device:
    def __init__(self, name):
        self.name = name
        self.path = f"{system.INFINIBAND}/{name}"
        self.port = f"{self.path}/ports/{PORT}"

    @property
    def is_link(self):
        return os.path.isdir(f"{self.path}/offload")

    @property
    def mode(self):
        return system.read(f"{self.path}/offload/mode", "")

    @property
    def active(self):
        return "ACTIVE" in system.read(f"{self.port}/state", "")

    def gids(self):
        return system.remembered((self.name, "gids"), self.read_gids)

    def read_gids(self):
        found = []
        for index in sorted(map(int, filter(str.isdigit, system.names(f"{self.port}/gids")))):
            # An unused index has no attributes: reading them fails.
            netdev = system.read(f"{self.port}/gid_attrs/ndevs/{index}")
            kind = netdev and system.read(f"{self.port}/gid_attrs/types/{index}")
            if not kind:
                continue
            try:
                address = ipaddress.IPv6Address(system.read(f"{self.port}/gids/{index}", ""))
            except ValueError:
                # It has gone meanwhile.
                continue
            found.append(Gid(index, address, kind, netdev))
        return found

    def gid_entries(self):
        return len(system.names(f"{self.port}/gids"))

    def netdev(self):
        """The netdev that the link was made on, or None if it is in another network namespace."""
        own = system.read(f"{self.path}/offload/netdev")
        if own is None:
            # A module that does not tell.
            return self.port_netdev()
        return Netdev(own) if own else None

    def port_netdev(self):
        """The netdev that rdma shows for the port, or None: of a link on a VLAN, the one below."""
        for port in system.once_json("rdma", "-j", "link", "show") or []:
            if port.get("ifname") == self.name and port.get("netdev"):
                return Netdev(port["netdev"])
        return None

    def netdevs(self):
        """Its own netdev and those of its GIDs, which differ where the module does not tell the own one of a VLAN."""
        own = self.netdev()
        return unique(([own.name] if own else []) + [gid.netdev for gid in self.gids()])

    def netdevs_below(self):
        """With the netdev below a VLAN, whose queues and rings the frames of the link go through."""
        port = self.port_netdev()
        return unique([netdev.name for netdev in self.netdevs()] + ([port.name] if port else []))

    def counters(self):
        """By netlink: sysfs has them in the first network namespace only."""
        shown = system.once_json("rdma", "-j", "statistic", "show", "link", f"{self.name}/{PORT}") or [{}]
        values = {name: value for name, value in shown[0].items()
                  if isinstance(value, int) and name not in ("ifindex", "port")}
        for name in system.names(f"{self.port}/counters"):
            value = system.read_int(f"{self.port}/counters/{name}")
            if value is not None:
                values.setdefault(name, value)
        return values

    def uverbs(self):
        for name in system.names("/sys/class/infiniband_verbs"):
            if system.read(f"/sys/class/infiniband_verbs/{name}/ibdev") == self.name:
                return name
        return None


def unique(names):
    return [Netdev(name) for name in dict.fromkeys(names)]


def devices():
    return [Device(name) for name in system.names(system.INFINIBAND)]


def links():
    return [device for device in devices() if device.is_link]


# What the links are looked at with.
ASKED = (("rdma", "-j", "link", "show"), ("ip", "-j", "-d", "link", "show"), ("ip", "-j", "address", "show"))


def failing():
    """The commands that tell nothing although there are links: their words, and why."""
    here = [link.name for link in links() if system.read(f"{link.path}/offload/netdev") != ""]
    if not here:
        return []
    found = [(words, (system.once(*words).err or "it prints no JSON").splitlines()[-1])
             for words in ASKED if system.once_json(*words) is None]
    listed = system.once_json(*ASKED[0])
    if listed is not None and not any(port.get("ifname") in here for port in listed):
        found.append((ASKED[0], f"it does not list {', '.join(here)}"))
    return found


def valid_name(name):
    """What ib_core accepts as the name of a device, and shells, paths and options leave alone."""
    return re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}", name) is not None
