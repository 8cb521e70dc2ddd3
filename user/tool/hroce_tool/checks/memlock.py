# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Memory that a process may lock."""
import resource

from ..finding import warning

ENOUGH = 64 << 20


def check(links):
    soft, _hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if not links or soft == resource.RLIM_INFINITY or soft >= ENOUGH:
        return []
    return [warning("memlock", "RLIMIT_MEMLOCK", f"Processes may lock {soft >> 10} KB of memory (ulimit -l).",
                    "Registering memory and creating queues fails with ENOMEM beyond that, but for root.",
                    "echo '* - memlock unlimited' >/etc/security/limits.d/30-hroce.conf && ulimit -l unlimited")]
