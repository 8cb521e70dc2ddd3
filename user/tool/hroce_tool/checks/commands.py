# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The commands that other checks ask: where they fail, nothing is found."""
from .. import device, packages, system
from ..finding import command, error


def check(_links):
    found = []
    for words, why in device.failing():
        missing = system.once(*words).status is None
        found.append(error("command-fails", words[0], f"{' '.join(words)} fails: {why}.",
                           "What is wrong with the links cannot be found without it.",
                           packages.install("iproute2") if missing else command(*words)))
    return found
