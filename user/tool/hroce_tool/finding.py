# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What a check of `hroce doctor` found."""
from dataclasses import asdict, dataclass

# In the order in which they are shown.
SEVERITIES = ("error", "warning", "advice")


@dataclass(frozen=True)
class Finding:
    """
    ID is stable, for scripts. SUBJECT is the link, netdev, chain or peer concerned. REPAIR is a line for the shell of
    root; words in capital letters are to be replaced.
    """
    severity: str
    id: str
    subject: str
    what: str
    why: str
    repair: str

    def as_dict(self):
        return asdict(self)

    def __str__(self):
        return f"{self.severity}: {self.what} [{self.id}]\n    {self.why}\n    repair: {self.repair}"


def error(*words):
    return Finding("error", *words)


def warning(*words):
    return Finding("warning", *words)


def advice(*words):
    return Finding("advice", *words)


def ordered(findings):
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
