# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""
Rules of a firewall, and what they do with a RoCEv2 packet.

A rule may ask for what is not known of the packet, such as its addresses. Then the rule may match or not. A packet
counts as dropped only if it is, however such rules come out; so a rule that accepts the nodes of one network before all
others are dropped is no finding.
"""
from dataclasses import dataclass, field

UDP = 17
ROCE_PORT = 4791
# Verdicts that end a chain, and what follows.
ACCEPT, DROP, RETURN, JUMP, GOTO, CONTINUE = "accept", "drop", "return", "jump", "goto", "continue"
DEPTH = 16


@dataclass(frozen=True)
class Packet:
    netdev: str
    version: int
    incoming: bool

    @property
    def hooks(self):
        return ("ingress", "prerouting", "input") if self.incoming else ("output", "postrouting", "egress")


@dataclass
class Rule:
    """MATCHES(packet) is True, False, or None where that is not known; VERDICT one of the above, TARGET a chain."""
    matches: callable
    verdict: str = CONTINUE
    target: str = None


@dataclass
class Chain:
    """A chain with a HOOK is a base chain. VERSIONS are those of IP that it sees, NETDEVS the only ones, if any."""
    title: str
    repair: str = ""
    hook: str = None
    priority: int = 0
    policy: str = ACCEPT
    versions: tuple = (4, 6)
    netdevs: tuple = ()
    rules: list = field(default_factory=list)

    def sees(self, packet):
        return (self.hook in packet.hooks and packet.version in self.versions
                and (not self.netdevs or packet.netdev in self.netdevs))


class Ruleset:
    """CHAINS by a key that a rule's TARGET is."""

    def __init__(self):
        self.chains = {}

    def walk(self, chain, packet, depth=0):
        """The set of verdicts that the chain may come to: ACCEPT, DROP, RETURN."""
        possible = set()
        for rule in chain.rules:
            matched = rule.matches(packet)
            if matched is False or rule.verdict == CONTINUE:
                continue
            if rule.verdict in (ACCEPT, DROP, RETURN):
                result = {rule.verdict}
            elif rule.target in self.chains and depth < DEPTH:
                result = self.walk(self.chains[rule.target], packet, depth + 1)
            else:
                result = {ACCEPT}
            ends = result - {RETURN} if rule.verdict == JUMP else result
            possible |= ends
            if matched is True and (rule.verdict != JUMP or RETURN not in result):
                return possible
        return possible | {RETURN}

    def verdicts(self, chain, packet):
        possible = self.walk(chain, packet)
        if RETURN in possible:
            possible = possible - {RETURN} | {chain.policy}
        return possible

    def dropping(self, packet):
        """The base chains that drop the packet for certain."""
        base = [chain for chain in self.chains.values() if chain.hook and chain.sees(packet)]
        return [chain for chain in base if self.verdicts(chain, packet) == {DROP}]


def all_of(answers):
    """True if all are, False if one is, else None: unknown."""
    answers = list(answers)
    if False in answers:
        return False
    return None if None in answers else True
