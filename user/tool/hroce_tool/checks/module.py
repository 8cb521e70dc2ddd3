# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Is the module there, loaded, and is there a link?"""
import glob
import os
import re

from .. import device, packages, system
from ..finding import command, error, warning

# Of the key that DKMS makes: on Ubuntu, and elsewhere.
CERTIFICATES = ("/var/lib/shim-signed/mok/MOK.der", "/var/lib/dkms/mok.pub")


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


def certificate():
    """Of the key by which DKMS signs: a file that there is, or its usual one."""
    return next((path for path in CERTIFICATES if os.path.exists(path)), CERTIFICATES[-1])


def signed_by(signer, path):
    """Whether the certificate is that of the signer: the name stands in it as it is."""
    try:
        with open(path, "rb") as file:
            return signer.encode() in file.read()
    except OSError:
        return False


def unknown_key(signer):
    """The repair for a key that the firmware has not been told of, or ""; nobody knows of another one than DKMS's."""
    path = certificate()
    if not signed_by(signer, path):
        return ""
    told = system.run("mokutil", "--test-key", path).out
    if "is not enrolled" in told:
        return f"{command('mokutil', '--import', path)} && reboot"
    return "reboot" if "enrollment request" in told else ""


def signature():
    """A kernel that is locked down, which Secure Boot makes it, refuses a module without a signature that it knows."""
    if not signature_required():
        return []
    signer = system.run("modinfo", "-F", "signer", "hroce").out.strip()
    if signer:
        what, repair = f"the firmware does not know the key that hroce.ko is signed with, \"{signer}\"", unknown_key(signer)
    else:
        what = "hroce.ko has no signature"
        repair = ("dkms build --force hroce/VERSION && dkms install --force hroce/VERSION && "
                  f"{command('mokutil', '--import', certificate())} && reboot")
    if not repair:
        return []
    return [error("secure-boot", "hroce.ko",
                  f"The kernel accepts signed modules only (lockdown: {lockdown()}), and {what}.",
                  "Secure Boot locks the kernel down; modprobe fails with \"Key was rejected\" or "
                  "\"Operation not permitted\".", repair)]


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
                               packages.install_ours()))
        else:
            found.append(error("module-not-loaded", "hroce.ko", "The module hroce is not loaded.",
                               "There are no links without it.", "modprobe hroce"))
    elif not device.links():
        found.append(error("no-link", "hroce", "No netdev has a link.", "Programs find no RDMA device of hroce.",
                           command("rdma", "link", "add", free_name(), "type", "hroce", "netdev", candidate())))
    return found
