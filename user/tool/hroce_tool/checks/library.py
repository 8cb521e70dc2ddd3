# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Does libibverbs find libhroce, and do library and module match?"""
import json
import os
import re
import sys

from .. import device, packages, system
from ..finding import command, error
from .port import added

CM = "/dev/infiniband/rdma_cm"
# In a process of its own: libibverbs and its providers print to standard error.
OPEN = """
import ctypes, json
verbs = ctypes.CDLL("libibverbs.so.1", use_errno=True)
verbs.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
verbs.ibv_get_device_name.restype = ctypes.c_char_p
verbs.ibv_get_device_name.argtypes = verbs.ibv_open_device.argtypes = [ctypes.c_void_p]
verbs.ibv_open_device.restype = ctypes.c_void_p
number = ctypes.c_int()
devices = verbs.ibv_get_device_list(ctypes.byref(number))
opened = {}
for index in range(number.value if devices else 0):
    ctypes.set_errno(0)
    context = verbs.ibv_open_device(devices[index])
    opened[verbs.ibv_get_device_name(devices[index]).decode()] = None if context else ctypes.get_errno()
print(json.dumps(opened))
"""


def open_all():
    """({device: None or the errno of opening it}, what the libraries said); the former is None without libibverbs."""
    done = system.run(sys.executable, "-c", OPEN)
    try:
        return json.loads(done.out), done.err
    except ValueError:
        return None, done.err


def configured():
    return any(re.search(r"^driver\s+hroce\b", system.read(f"/etc/libibverbs.d/{name}", ""), re.M)
               for name in system.names("/etc/libibverbs.d"))


def unlisted(link, said):
    """Why libibverbs leaves LINK out."""
    module_abi = system.read(f"/sys/class/infiniband_verbs/{link.uverbs() or ''}/abi_version", "?")
    mismatch = re.search(rf"libhroce[^:]*: (.*{re.escape(link.name)} speaks ABI.*)", said)
    rebuild = re.search(r"libhroce[^:]*: (built for [^;]*)", said)
    if mismatch:
        return error("abi-mismatch", link.name, f"Module and library do not match: {mismatch[1]}.",
                     "libibverbs does not list the link.",
                     # Without the module, none of the links is left.
                     " && ".join([packages.install_ours(again=True), "rmmod hroce", "modprobe hroce"] +
                                 added(device.links())))
    if rebuild:
        return error("library-mismatch", link.name, f"libhroce was {rebuild[1]}.",
                     "libibverbs does not list the link.", packages.install_ours(again=True))
    return error("library-missing", link.name,
                 "libibverbs does not find libhroce" +
                 ("" if configured() else ": no file in /etc/libibverbs.d has the line \"driver hroce\"") + ".",
                 f"The link, whose module speaks ABI {module_abi}, is not listed; programs find no device.",
                 packages.install_ours(again=True) if configured() else
                 "echo driver hroce >/etc/libibverbs.d/hroce.driver")


def unopened(link, number, said):
    """Why opening LINK fails, by the node and the errno."""
    node = f"/dev/infiniband/{link.uverbs()}" if link.uverbs() else None
    if not node or not os.path.exists(node):
        why = f"{node or 'Its node in /dev/infiniband'} is not there."
        repair = "modprobe ib_uverbs && udevadm trigger --action=add --subsystem-match=infiniband_verbs"
    elif not os.access(node, os.R_OK | os.W_OK):
        # libibverbs says ENOENT then.
        closed = [it for it in (node, CM) if os.path.exists(it) and not os.access(it, os.R_OK | os.W_OK)]
        why, repair = f"{' and '.join(closed)} may not be opened by this user.", command("chmod", 666, *closed)
    else:
        why, repair = said.splitlines()[-1] if said else "Programs cannot use it.", "dmesg | tail -n 50"
    return error("open-fails", link.name, f"Opening the link fails: {os.strerror(number)}.", why, repair)


def check(links):
    if not links:
        return []
    opened, said = open_all()
    if opened is None:
        return [error("libibverbs-missing", "libibverbs", "libibverbs.so.1 does not load.",
                      "No program can use verbs.", packages.install("libibverbs1"))]
    found = []
    for link in links:
        if link.name not in opened:
            found.append(unlisted(link, said))
        elif opened[link.name] is not None:
            found.append(unopened(link, opened[link.name], said))
    return found
