# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The netdev below is up, has a carrier and an address."""
from ..finding import command, error


def check_netdev(link, netdev):
    details = netdev.details()
    if not details:
        # The command fails: see commands.py.
        return []
    flags = details.get("flags", [])
    name = netdev.name
    if "UP" not in flags:
        return [error("netdev-down", name, f"{name}, the netdev of {link.name}, is down.",
                      "The port is down, and connections fail.", command("ip", "link", "set", "dev", name, "up"))]
    if "LOWER_UP" not in flags:
        return [error("no-carrier", name, f"{name}, the netdev of {link.name}, has no carrier.",
                      "The port is down, and connections fail.",
                      f"{command('ethtool', name)} # then check cable and switch")]
    found = []
    add = command("ip", "address", "add", "ADDRESS/PREFIX", "dev", name)
    usable = [it for it in netdev.addresses() if it.get("scope") == "global"]
    if not usable:
        found.append(error("no-address", name, f"{name}, the netdev of {link.name}, has no address.",
                           "Without one the link has no GID but the link-local one, and rdma_cm does not find it.",
                           add))
    for address in usable:
        if address.get("dadfailed"):
            text = address["interface"]
            found.append(error("duplicate-address", name, f"Another node has the address {text.ip} of {name}.",
                               "Packets reach the other node.",
                               f"{command('ip', 'address', 'del', text, 'dev', name)} && {add}"))
    return found


def check(links):
    found = []
    for link in links:
        netdev = link.netdev()
        # None: the link has just been removed.
        if netdev:
            found += check_netdev(link, netdev)
    return found
