# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Each address has a GID of RoCEv2, the only type that links have."""
from ..finding import command, error


def check(links):
    found = []
    for link in links:
        gids = link.gids()
        present = {(gid.netdev, gid.ip) for gid in gids if gid.type == "RoCE v2"}
        for netdev in link.netdevs():
            for address in netdev.addresses():
                interface = address["interface"]
                if (netdev.name, interface.ip) in present or address.get("dadfailed") or address.get("tentative"):
                    continue
                peer = address.get("address")
                own = (interface.ip, "peer", f"{peer}/{address['prefixlen']}") if peer else (interface,)
                where = ("dev", netdev.name)
                delete = command("ip", "address", "del", *own, *where)
                if len(gids) == link.gid_entries():
                    found.append(error("gid-table-full", link.name,
                                       f"The GID table of {link.name} is full, and {interface.ip} has no entry.",
                                       "Connections from and to this address fail.", delete))
                    continue
                missing = ("gid-missing", link.name,
                           f"{link.name} has no GID of RoCEv2 for {interface.ip} of {netdev.name}.")
                if peer and interface.version == 4:
                    found.append(error(*missing, f"The kernel has made one of its peer, {peer}, which is no address of "
                                       "this node; without a peer, the address has one.",
                                       command("ip", "address", "add", f"{interface.ip}/32", *where)))
                    continue
                flags = ["nodad"] if interface.version == 6 else []
                found.append(error(*missing, "Connections from and to this address fail.",
                                   f"{delete} && {command('ip', 'address', 'add', *own, *where, *flags)}"))
    return found
