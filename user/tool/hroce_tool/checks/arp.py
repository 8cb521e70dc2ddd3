# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Several links in one IP network: each answers for its own address only."""
from .. import system
from ..finding import warning


def check(links):
    networks = {}
    for link in links:
        for netdev in link.netdevs():
            for address in netdev.addresses():
                if address["interface"].version == 4:
                    networks.setdefault(address["interface"].network, set()).add(netdev.name)
    conf = "/proc/sys/net/ipv4/conf"
    for network, netdevs in networks.items():
        loose = [name for name in sorted(netdevs)
                 if not max(system.read_int(f"{conf}/{it}/arp_ignore", 1) for it in ("all", name))]
        if len(netdevs) > 1 and loose:
            return [warning("arp-ignore", str(network),
                            f"{' and '.join(sorted(netdevs))} have links and addresses in {network}, and arp_ignore is "
                            f"0 on {' and '.join(loose)}.",
                            "Each answers ARP for the addresses of the others, so packets arrive at the wrong link.",
                            "sysctl -w net.ipv4.conf.all.arp_ignore=1 && "
                            "echo net.ipv4.conf.all.arp_ignore=1 >/etc/sysctl.d/30-hroce.conf")]
    return []
