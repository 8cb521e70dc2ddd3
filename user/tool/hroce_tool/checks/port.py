# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""UDP port 4791 belongs to hroce."""
import re

from .. import device, system
from ..finding import command, warning

WHY = "hroce drops fragmented packets, and all packets while netfilter has rules or IPsec has policies."


def added(links):
    """Commands that add these links."""
    netdevs = [(link.name, link.netdev()) for link in links]
    return [command("rdma", "link", "add", name, "type", "hroce", "netdev", netdev.name if netdev else "DEVICE")
            for name, netdev in netdevs]


def again(links):
    """Commands that make the links anew: a link takes the port when it is added."""
    return [command("rdma", "link", "del", link.name) for link in links] + added(links)


def holder():
    """(number, name) of the process that has the port, or None. Its name may look like what ss prints around it."""
    found = re.findall(r",pid=(\d+),fd=", system.run("ss", "-H", "-l", "-n", "-u", "-p", "sport = :4791").out)
    if not found:
        return None
    return found[-1], system.printable(system.read(f"/proc/{found[-1]}/comm", "")) or "of this number"


def check(links):
    software = [link for link in links if link.mode == "software"]
    if not software:
        return []
    # A socket of the kernel has no process, whether it is that of hroce or of rdma_rxe.
    process = holder()
    if process:
        number, name = process
        return [warning("port-busy", name, f"The process {name} ({number}) has UDP port 4791.", WHY,
                        " && ".join([command("kill", number)] + again(software)))]
    if not system.module_loaded("rdma_rxe"):
        return []
    # rdma_rxe takes the port when it is loaded, and does not load without.
    others = [it.name for it in device.devices() if system.read(f"{it.path}/parent")]
    commands = [command("rdma", "link", "del", name) for name in others] + ["modprobe -r rdma_rxe"] + again(software)
    return [warning("port-busy", "rdma_rxe", "rdma_rxe is loaded and has UDP port 4791.", WHY, " && ".join(commands))]
