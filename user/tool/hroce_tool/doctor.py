# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""`hroce doctor`: run the checks, show what they found."""
import json
import sys

from . import device, peer, system
from .checks import (addresses, arp, clock, commands, drops, firewall, gids, library, memlock, module, mtu, naming,
                     offloads, pause, port, priority, rings)
from .finding import ordered

# Each has check(links), which returns findings.
CHECKS = (module, commands, library, port, naming, addresses, gids, mtu, memlock, firewall, arp, priority, pause, rings,
          offloads, drops, clock)


def local(chosen):
    """Findings about this node, about the links CHOSEN or about all."""
    system.forget()
    # Links of other namespaces may be listed, too; they have no netdev here.
    links = [link for link in device.links() if link.netdev() and (not chosen or link.name in chosen)]
    found = []
    for check in CHECKS:
        for finding in check.check(links):
            if finding not in found:
                found.append(finding)
    return links, found


def describe(link):
    return {
        "name": link.name,
        "mode": link.mode,
        "active": link.active,
        "netdevs": [netdev.name for netdev in link.netdevs()],
        "gids": [{"index": gid.index, "address": str(gid.ip), "type": gid.type, "netdev": gid.netdev}
                 for gid in link.gids()],
    }


def say(text):
    print(system.printable(text))


def print_link(about):
    say(f"{about['name']}: {about['mode']}, {'active' if about['active'] else 'down'}, "
        f"netdev {', '.join(about['netdevs']) or 'none'}")
    for gid in about["gids"]:
        say(f"    GID {gid['index']}: {gid['address']} ({gid['type']}, {gid['netdev']})")


def show(links, found, as_json, measured=None):
    found = ordered(found)
    if as_json:
        report = {"links": [describe(link) for link in links], "findings": [finding.as_dict() for finding in found]}
        if measured is not None:
            report["peer"] = measured
        json.dump(report, sys.stdout, indent=2)
        print()
        return
    for link in links:
        print_link(describe(link))
    for it in measured or []:
        if "mb_per_s" in it:
            say(f"{it['direction']:7} {it['mb_per_s']:.1f} MB/s")
        elif "dscp_sent" in it:
            say(f"{it['direction']:7} DSCP {it['dscp_sent']} arrives as {it['dscp_seen']}")
        else:
            say(f"{it['direction']:7} {it['size']:>8} bytes: {it['status']}, {it['messages']} messages")
    for finding in found:
        print(finding)
    print(f"{len(found)} finding{'' if len(found) == 1 else 's'}")


def main(options):
    if options.serve:
        return peer.serve(options.port)
    known = {link.name for link in device.links()}
    for name in options.link or []:
        if name not in known:
            print(f"hroce: no link {name}; there are: {', '.join(sorted(known)) or 'none'}", file=sys.stderr)
            return 2
    links, found = local(options.link)
    measured = None
    if options.peer:
        try:
            seen, measured = peer.check(options.peer, options.port)
        except peer.Missing as why:
            print(f"hroce: {why}", file=sys.stderr)
            return 1
        found += seen
    show(links, found, options.json, measured)
    return 1 if found else 0
