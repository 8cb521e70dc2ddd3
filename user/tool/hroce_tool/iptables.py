# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The rules of iptables, old and by nftables, from iptables-save."""
import shlex

from . import nftables, system
from .finding import command
from .ruleset import ACCEPT, CONTINUE, DROP, GOTO, JUMP, RETURN, ROCE_PORT, UDP, Chain, Rule, Ruleset, all_of

HOOKS = {"PREROUTING": "prerouting", "INPUT": "input", "OUTPUT": "output", "POSTROUTING": "postrouting"}
VERDICTS = {"ACCEPT": ACCEPT, "DROP": DROP, "REJECT": DROP, "RETURN": RETURN}
# Targets that let the next rule see the packet.
GOES_ON = ("LOG", "NFLOG", "MARK", "CONNMARK", "DSCP", "TOS", "TTL", "HL", "CT", "NOTRACK", "CLASSIFY", "TCPMSS",
           "CHECKSUM", "SET", "TRACE", "AUDIT", "SECMARK", "CONNSECMARK", "TEE", "RATEEST", "IDLETIMER")
NETWORKS_OF_ALL = ("0.0.0.0/0", "::/0")


def netdev_is(name, incoming):
    def matches(packet):
        if packet.incoming != incoming:
            return False
        return packet.netdev.startswith(name[:-1]) if name.endswith("+") else packet.netdev == name
    return matches


def port_is(words):
    def matches(_packet):
        for part in words.split(","):
            low, _, high = part.partition(":")
            if int(low or 0) <= ROCE_PORT <= int(high or (low if ":" not in part else 65535)):
                return True
        return False
    return matches


def condition(option, value):
    """A function for one option of a rule; None for what matches always."""
    if option in ("-p", "--protocol"):
        return lambda packet: value == "all" or nftables.number(value) == UDP
    if option in ("-i", "--in-interface"):
        return netdev_is(value, True)
    if option in ("-o", "--out-interface"):
        return netdev_is(value, False)
    if option in ("--dport", "--destination-port", "--dports", "--destination-ports"):
        return port_is(value)
    if option in ("--ctstate", "--state"):
        return lambda packet: "NEW" in value.split(",")
    if option in ("-s", "-d") and value in NETWORKS_OF_ALL:
        return None
    return lambda packet: None


def negated(function):
    def matches(packet):
        answer = function(packet)
        return None if answer is None else not answer
    return matches


def parse(words):
    """The options of a rule as (option, value, negated)."""
    index = 0
    while index < len(words):
        inverse = words[index] == "!"
        index += inverse
        option = words[index]
        index += 1
        values = []
        while index < len(words) and words[index] != "!" and not words[index].startswith("-"):
            values.append(words[index])
            index += 1
        yield option, " ".join(values), inverse


def rule(words, chains):
    conditions, verdict, target = [], CONTINUE, None
    for option, value, inverse in parse(words):
        if option in ("-j", "-g"):
            jump = JUMP if option == "-j" else GOTO
            name = value.split()[0]
            if name in VERDICTS:
                verdict = VERDICTS[name]
            elif name in chains:
                verdict, target = jump, chains[name]
            elif name not in GOES_ON:
                verdict = ACCEPT
            # What follows belongs to the target.
            break
        if option in ("-m", "--comment", "-c"):
            continue
        function = condition(option, value)
        if function:
            conditions.append(negated(function) if inverse else function)
    return Rule(lambda packet: all_of(it(packet) for it in conditions), verdict, target)


def parse_save(text, tool, version):
    found, table, chains = Ruleset(), None, {}
    for line in text.splitlines():
        if line.startswith("*"):
            table, chains = line[1:], {}
        elif line.startswith(":") and table:
            name, policy = line[1:].split()[:2]
            chains[name] = (table, name)
            found.chains[chains[name]] = Chain(
                title=f"{tool} -t {table} {name}",
                repair=command(tool, "-t", table, "-I", name, "-p", "udp", "--dport", ROCE_PORT, "-j", "ACCEPT"),
                hook=HOOKS.get(name), policy=VERDICTS.get(policy, ACCEPT), versions=(version,))
        elif line.startswith("-A ") and table:
            words = shlex.split(line)
            if words[1] in chains:
                found.chains[chains[words[1]]].rules.append(rule(words[2:], chains))
    return found


def load():
    """
    Rulesets of both families and kinds. The old kind is asked only where it has tables, as asking makes them, and the
    new one where nft does not show its rules in full.
    """
    listed = system.once_json("nft", "-j", "list", "ruleset")
    shown = nftables.by_iptables(listed.get("nftables", [])) if isinstance(listed, dict) else set()
    for version, prefix, names, family in ((4, "iptables", "ip_tables_names", "ip"),
                                           (6, "ip6tables", "ip6_tables_names", "ip6")):
        kinds = ["legacy"] if system.read(f"/proc/net/{names}") else []
        if any(it[0] == family for it in shown):
            kinds.append("nft")
        for kind in kinds:
            saved = system.run(f"{prefix}-{kind}-save")
            if saved.ok:
                found = parse_save(saved.out, f"{prefix}-{kind}", version)
                if kind == "nft":
                    found.chains = {key: it for key, it in found.chains.items() if (family, key[0]) in shown}
                yield found
