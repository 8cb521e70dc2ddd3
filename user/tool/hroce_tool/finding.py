# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What a check of `hroce doctor` found."""
import shlex
from dataclasses import asdict, dataclass

from .system import printable

# In the order in which they are shown.
SEVERITIES = ("error", "warning", "advice")
# All that there are, in the order of hroce(8).
IDS = (
    "headers-missing", "module-missing", "module-not-loaded", "no-link", "secure-boot",
    "command-fails", "libibverbs-missing", "library-missing", "abi-mismatch", "library-mismatch",
    "open-fails", "port-busy", "renamed", "netdev-down", "no-carrier", "no-address", "duplicate-address",
    "gid-missing", "gid-table-full", "mtu-small", "route-mtu", "memlock", "firewall", "arp-ignore",
    "vlan-priority", "pause-one-way", "ring-small", "offloads", "switch-off",
    "qdisc-drops", "card-drops", "backlog-drops", "clock-slow",
    "peer-unreachable", "peer-busy", "peer-no-link", "peer-connect", "peer-mtu", "peer-clock",
    "black-hole", "messages-fail", "loss", "reordering", "damage", "content", "dscp", "asymmetric",
)


def quoted(word):
    """A word for bash. Names of links, netdevs and chains may hold anything."""
    if word.isprintable():
        return shlex.quote(word)
    return "$'" + "".join(f"\\{it}" if it in "\\'" else it if it.isprintable() else
                          "".join(f"\\x{byte:02x}" for byte in it.encode(errors="replace")) for it in word) + "'"


def command(*words):
    """Part of a repair: the only way for names to get into one."""
    return " ".join(quoted(str(word)) for word in words)


@dataclass(frozen=True)
class Finding:
    """
    ID is one of IDS, and stable, for scripts. SUBJECT is the link, netdev, chain or peer concerned. REPAIR is a line
    for the shell of root, made by command(); words in capital letters are to be replaced.
    """
    severity: str
    id: str
    subject: str
    what: str
    why: str
    repair: str

    def __post_init__(self):
        if self.id not in IDS:
            raise ValueError(f"{self.id} is no finding: add it to IDS, to hroce(8) and to the tests")

    def as_dict(self):
        return asdict(self)

    def __str__(self):
        what, why, repair = map(printable, (self.what, self.why, self.repair))
        return f"{self.severity}: {what} [{self.id}]\n    {why}\n    repair: {repair}"


def error(*words):
    return Finding("error", *words)


def warning(*words):
    return Finding("warning", *words)


def advice(*words):
    return Finding("advice", *words)


def ordered(findings):
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
