# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""`hroce link`: make, remove, show and keep links."""
import json
import os
import re
import sys

from . import device, doctor, system

# Read by hroce-link@.service, a file for each netdev.
CONFIG = "/etc/hroce"
NAMES = "use letters and digits, and behind the first one '_', '-' and '.'"


def fail(text, status=1):
    for line in text.splitlines():
        print(f"hroce: {system.printable(line)}", file=sys.stderr)
    return status


def rdma_fails():
    """Why rdma tells nothing about the links that there are, or ""."""
    return next((f"{' '.join(words)}: {why}" for words, why in device.failing() if words[0] == "rdma"), "")


def reason(netdev):
    """The last words of the kernel about a link on NETDEV."""
    said = re.findall(rf"hroce: (no link on {re.escape(netdev)}: .*)", system.run("dmesg").out)
    return said[-1] if said else ""


def add(options):
    if not device.valid_name(options.name):
        return fail(f"{options.name} is no name for a link: {NAMES}", 2)
    before = reason(options.netdev), system.run("dmesg").out.count("hroce: no link on")
    done = system.run("rdma", "link", "add", options.name, "type", "hroce", "netdev", options.netdev)
    if done.ok:
        return report(options, "added", options.name)
    new = system.run("dmesg").out.count("hroce: no link on") != before[1]
    why = reason(options.netdev) if new else ""
    return fail(f"rdma link add {options.name}: {done.err or 'failed'}" + (f"\n{why}" if why else ""))


def delete(options):
    known = [link.name for link in device.links()]
    if options.name not in known:
        return fail(f"no link {options.name}; there are: {', '.join(known) or 'none'}", 2)
    done = system.run("rdma", "link", "del", options.name)
    return report(options, "deleted", options.name) if done.ok else fail(f"rdma link del {options.name}: {done.err}")


def report(options, what, name):
    if options.json:
        print(json.dumps({what: name}))
    return 0


def unit(netdev):
    escaped = system.run("systemd-escape", "--template=hroce-link@.service", "--", netdev)
    return escaped.out.strip() if escaped.ok else f"hroce-link@{netdev}.service"


def save_one(link):
    """The file and the unit that make the link again as the netdev appears. Returns the path, or raises OSError."""
    if not device.valid_name(link.name):
        raise OSError(f"{link.name} is no name for the unit: {NAMES}")
    netdev = link.netdev()
    if not netdev:
        raise OSError(f"{link.name} has no netdev in this network namespace")
    policy = system.read(f"{link.path}/offload/policy", "auto")
    os.makedirs(CONFIG, exist_ok=True)
    path = f"{CONFIG}/{netdev.name}.conf"
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.write(f"NAME={link.name}\n" + (f"POLICY={policy}\n" if policy != "auto" else ""))
    os.replace(f"{path}.new", path)
    done = system.run("systemctl", "enable", "--", unit(netdev.name))
    if not done.ok:
        raise OSError(f"{path} is written, and systemctl enable {unit(netdev.name)} fails: {done.err}")
    return path


def save(options):
    links = [link for link in device.links() if options.name in (None, link.name)]
    if options.name and not links:
        return fail(f"no link {options.name}", 2)
    saved, wrong = [], [text for text in [rdma_fails()] if text]
    for link in links:
        # One of another network namespace is saved there.
        if not options.name and not link.netdev():
            continue
        try:
            saved.append(save_one(link))
        except OSError as why:
            wrong.append(str(why))
    if options.json:
        print(json.dumps({"saved": saved}))
    elif saved:
        print("\n".join(saved))
    for text in wrong:
        fail(text)
    return 1 if wrong else 0


def show(options):
    links = [link for link in device.links() if options.name in (None, link.name)]
    if options.name and not links:
        return fail(f"no link {options.name}", 2)
    wrong = rdma_fails()
    if wrong:
        fail(wrong)
    about = [doctor.describe(link) for link in links]
    if options.json:
        print(json.dumps(about, indent=2))
        return 1 if wrong else 0
    for link in about:
        doctor.print_link(link)
    return 1 if wrong else 0
