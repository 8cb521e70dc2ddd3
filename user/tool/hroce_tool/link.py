# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""`hroce link`: make, remove, show and keep links."""
import json
import re
import sys

from . import device, doctor, system


def fail(text, status=1):
    print(f"hroce: {text}", file=sys.stderr)
    return status


def reason(netdev):
    """The last words of the kernel about a link on NETDEV."""
    said = re.findall(rf"hroce: (no link on {re.escape(netdev)}: .*)", system.run("dmesg").out)
    return said[-1] if said else ""


def add(options):
    if not device.valid_name(options.name):
        return fail(f"{options.name} is no name for a link: use letters, digits, '_', '-' and '.'", 2)
    before = reason(options.netdev), system.run("dmesg").out.count("hroce: no link on")
    done = system.run("rdma", "link", "add", options.name, "type", "hroce", "netdev", options.netdev)
    if done.ok:
        return report(options, "added", options.name)
    new = system.run("dmesg").out.count("hroce: no link on") != before[1]
    why = reason(options.netdev) if new else ""
    return fail(f"rdma link add {options.name}: {done.err or 'failed'}" + (f"\nhroce: {why}" if why else ""))


def delete(options):
    known = [link.name for link in device.links()]
    if options.name not in known:
        return fail(f"no link {options.name}; there are: {', '.join(known) or 'none'}")
    done = system.run("rdma", "link", "del", options.name)
    return report(options, "deleted", options.name) if done.ok else fail(f"rdma link del {options.name}: {done.err}")


def report(options, what, name):
    if options.json:
        print(json.dumps({what: name}))
    return 0


def show(options):
    links = [link for link in device.links() if options.name in (None, link.name)]
    if options.name and not links:
        return fail(f"no link {options.name}")
    about = [doctor.describe(link) for link in links]
    if options.json:
        print(json.dumps(about, indent=2))
        return 0
    for link in about:
        doctor.print_link(link)
    return 0
