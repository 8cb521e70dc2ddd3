# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Is the module there, loaded, and is there a link?"""
import glob
import os
import re

from .. import device, packages, system
from ..finding import command, error, warning


def headers():
    release = system.release()
    if os.path.exists(f"/lib/modules/{release}/build/Makefile"):
        return []
    if not installed() and not system.module_loaded("hroce"):
        severity, when = error, "now"
    elif glob.glob("/var/lib/dkms/hroce*"):
        severity, when = warning, "when hroce is upgraded"
    else:
        return []
    return [severity("headers-missing", release, f"The headers of the kernel {release} are not installed.",
                     f"The module cannot be built {when}.", packages.install(f"linux-headers-{release}"))]


def installed():
    return system.run("modprobe", "-n", "-q", "hroce").ok


def lockdown():
    match = re.search(r"\[(\w+)\]", system.read("/sys/kernel/security/lockdown", ""))
    return match[1] if match else "none"


def signature_required():
    return lockdown() != "none" or system.read("/sys/module/module/parameters/sig_enforce") == "Y"


def signature():
    """An unsigned module is refused by a kernel that is locked down, which Secure Boot makes it."""
    if not signature_required() or system.run("modinfo", "-F", "signer", "hroce").out.strip():
        return []
    return [error("secure-boot", "hroce.ko",
                  f"The kernel accepts signed modules only (lockdown: {lockdown()}), and hroce.ko has no signature.",
                  "Secure Boot locks the kernel down; modprobe fails with \"Key was rejected\" or "
                  "\"Operation not permitted\".",
                  "dkms build --force hroce/VERSION && dkms install --force hroce/VERSION && "
                  "mokutil --import /var/lib/dkms/mok.pub && reboot")]


def candidate():
    """A netdev for a first link: that of the default route, or the first with an address."""
    for route in system.once_json("ip", "-j", "route", "show", "default") or []:
        if route.get("dev"):
            return route["dev"]
    for entry in system.once_json("ip", "-j", "address", "show", "up", "scope", "global") or []:
        if entry.get("addr_info") and entry.get("link_type") == "ether":
            return entry["ifname"]
    return "DEVICE"


def free_name():
    taken = {it.name for it in device.devices()}
    return next(f"hroce{number}" for number in range(len(taken) + 1) if f"hroce{number}" not in taken)


def check(links):
    found = headers()
    if not system.module_loaded("hroce"):
        found += signature()
        if not installed():
            found.append(error("module-missing", "hroce.ko",
                               f"The module hroce is not installed for the kernel {system.release()}.",
                               "There are no links without it.",
                               packages.install("hroce-dkms")))
        else:
            found.append(error("module-not-loaded", "hroce.ko", "The module hroce is not loaded.",
                               "There are no links without it.", "modprobe hroce"))
    elif not device.links():
        found.append(error("no-link", "hroce", "No netdev has a link.", "Programs find no RDMA device of hroce.",
                           command("rdma", "link", "add", free_name(), "type", "hroce", "netdev", candidate())))
    return found
