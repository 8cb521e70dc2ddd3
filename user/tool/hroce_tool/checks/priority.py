# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Traffic class (DSCP) of rdma_cm, and the VLAN priority that belongs to it."""
from .. import system
from ..finding import command, warning

CONFIG = "/sys/kernel/config/rdma_cm"
# rt_tos2priority() of the kernel, by bits 1 to 4 of the traffic class
TOS_PRIORITY = (0, 1, 0, 0, 2, 2, 2, 2, 6, 6, 6, 6, 4, 4, 4, 4)


def default_tos(link):
    """The traffic class that rdma_cm gives connections of the link of this name; 0 if none is set."""
    return system.read_int(f"{CONFIG}/{link}/ports/1/default_roce_tos", 0)


def check_vlan(link, tos, netdev):
    info = netdev.details().get("linkinfo", {})
    if info.get("info_kind") != "vlan":
        return []
    priority = TOS_PRIORITY[(tos & 0x1e) >> 1]
    mapped = {int(entry["from"]): int(entry["to"]) for entry in info.get("info_data", {}).get("egress_qos", [])}
    if not priority or mapped.get(priority):
        return []
    return [warning("vlan-priority", netdev.name,
                    f"Connections of {link.name} have traffic class {tos}, which is priority {priority}, and "
                    f"{netdev.name} sends that with VLAN priority 0.",
                    "Switches that sort by VLAN priority treat the packets as best effort, without PFC.",
                    command("ip", "link", "set", "dev", netdev.name, "type", "vlan", "egress-qos-map",
                            f"{priority}:{priority}"))]


def check(links):
    found = []
    for link in links:
        tos = default_tos(link.name)
        if not tos:
            continue
        for netdev in link.netdevs():
            found += check_vlan(link, tos, netdev)
    return found
