# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Memory that a process may lock."""
import grp
import os
import pwd
import resource

from .. import system
from ..finding import command, warning

ENOUGH = 64 << 20
# Gives the group rdma no limit; installed with the library.
LIMITS = "/etc/security/limits.d/hroce.conf"


def user():
    """The ordinary user who runs this, perhaps by sudo."""
    try:
        name = system.environment().get("SUDO_USER") or pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        # A container may run users that it does not know.
        name = "root"
    return "USER" if name == "root" else name


def group_missing():
    try:
        grp.getgrnam("rdma")
    except KeyError:
        return True
    return False


def check(links):
    soft, _hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if not links or soft == resource.RLIM_INFINITY or soft >= ENOUGH:
        return []
    steps = [command("groupadd", "-r", "rdma")] if group_missing() else []
    if not os.path.exists(LIMITS):
        steps.append(f"echo '@rdma - memlock unlimited' >{LIMITS}")
    steps.append(command("usermod", "-aG", "rdma", user()))
    return [warning("memlock", "RLIMIT_MEMLOCK", f"Processes may lock {soft >> 10} KB of memory (ulimit -l).",
                    "Registering memory and creating queues fails with ENOMEM beyond that, but for root; at the next "
                    f"login the limits in {LIMITS} hold.",
                    " && ".join(steps))]
