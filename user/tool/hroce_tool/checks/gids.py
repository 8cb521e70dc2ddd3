# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Each address has a GID, and GIDs are those of RoCEv2."""
from ..finding import error, warning


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
                where = f"{interface} dev {netdev.name}"
                if len(gids) == link.gid_entries():
                    found.append(error("gid-table-full", link.name,
                                       f"The GID table of {link.name} is full, and {interface.ip} has no entry.",
                                       "Connections from and to this address fail.", f"ip address del {where}"))
                    continue
                flags = " nodad" if interface.version == 6 else ""
                found.append(error("gid-missing", link.name,
                                   f"{link.name} has no GID of RoCEv2 for {interface.ip} of {netdev.name}.",
                                   "Connections from and to this address fail.",
                                   f"ip address del {where} && ip address add {where}{flags}"))
        roce1 = [gid for gid in gids if gid.type != "RoCE v2"]
        mode = f"/sys/kernel/config/rdma_cm/{link.name}"
        if roce1 and link.mode == "software":
            found.append(warning("gid-type", link.name,
                                 f"{link.name} has a GID of type {roce1[0].type}, index {roce1[0].index}.",
                                 "Programs that take this index do not reach nodes that speak RoCEv2.",
                                 f"mkdir -p {mode} && echo RoCE v2 >{mode}/ports/1/default_roce_mode"))
    return found
