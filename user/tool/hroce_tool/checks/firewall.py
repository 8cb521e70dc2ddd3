# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Rules of nftables and iptables that drop UDP port 4791."""
from .. import iptables, nftables
from ..finding import error
from ..ruleset import Packet


def packets(links):
    """A packet in and one out, for each address family that a netdev of a link has."""
    for link in links:
        if link.mode != "software":
            continue
        for netdev in link.netdevs():
            versions = {address["interface"].version for address in netdev.addresses()}
            for version in sorted(versions):
                yield Packet(netdev.name, version, incoming=True)
                yield Packet(netdev.name, version, incoming=False)


def check(links):
    rulesets = [ruleset for ruleset in (nftables.load(), *iptables.load()) if ruleset]
    found = {}
    for packet in packets(links):
        for ruleset in rulesets:
            for chain in ruleset.dropping(packet):
                where = "packets from other nodes" if packet.incoming else "packets to other nodes"
                found[chain.title] = error("firewall", chain.title,
                                           f"The firewall drops {where}: {chain.title}.",
                                           "RoCEv2 is UDP to port 4791, in both directions, and connection tracking "
                                           "does not know its connections.", chain.repair)
    return list(found.values())
