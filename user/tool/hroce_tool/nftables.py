# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The rules of nftables, from `nft -j list ruleset`."""
from . import system
from .finding import command
from .ruleset import ACCEPT, CONTINUE, DROP, GOTO, JUMP, RETURN, ROCE_PORT, UDP, Chain, Rule, Ruleset, all_of

FAMILIES = {"ip": (4,), "ip6": (6,), "inet": (4, 6), "netdev": (4, 6), "bridge": ()}
PROTOCOLS = {"udp": UDP, "tcp": 6, "icmp": 1, "icmpv6": 58, "ipv6-icmp": 58, "sctp": 132, "udplite": 136, "esp": 50,
             "ah": 51, "dccp": 33, "gre": 47, "igmp": 2, "ospf": 89, "comp": 108}
ETHERTYPES = {4: ("ip", "0x0800", "8", "ipv4"), 6: ("ip6", "0x86dd", "56710", "ipv6")}
VERDICTS = {"accept": ACCEPT, "drop": DROP, "reject": DROP, "return": RETURN}
# Interfaces, for which a name is known.
OURS = {True: ("iifname", "iif"), False: ("oifname", "oif")}


class Known:
    """What is known of a packet under a name: its value in the words that rules use."""

    def __init__(self, *values):
        self.values = {str(value) for value in values}


def left(expression, packet):
    """A Known, or None for what is not; False if the packet has no such header, so that the rule does not match."""
    if not isinstance(expression, dict):
        return None
    (kind, words), *_ = expression.items()
    if kind == "meta":
        key = words.get("key")
        if key in OURS[packet.incoming]:
            return Known(packet.netdev)
        if key in OURS[not packet.incoming]:
            return Known("")
        if key == "l4proto":
            return Known("udp", UDP)
        if key == "nfproto":
            return Known("ipv4" if packet.version == 4 else "ipv6")
        if key == "protocol":
            return Known(*ETHERTYPES[packet.version])
        if key == "pkttype":
            return Known("host", "unicast")
        return None
    if kind == "payload":
        protocol, name = words.get("protocol"), words.get("field")
        if (protocol, name) in (("udp", "dport"), ("th", "dport")):
            return Known(ROCE_PORT)
        if protocol in ("tcp", "icmp", "icmpv6", "sctp", "dccp", "igmp", "esp", "ah", "arp"):
            return False
        if protocol in ("ip", "ip6") and (protocol == "ip") != (packet.version == 4):
            return False
        if (protocol, name) in (("ip", "protocol"), ("ip6", "nexthdr")):
            return Known("udp", UDP)
        if (protocol, name) == ("ether", "type"):
            return Known(*ETHERTYPES[packet.version])
        return None
    if kind == "ct" and words.get("key") == "state":
        return Known("new")
    return None


def number(value):
    """Ports and protocols by number, so that ranges can be compared."""
    try:
        return int(PROTOCOLS.get(value, value))
    except (TypeError, ValueError):
        return None


def is_in(known, right, sets):
    """Whether a value is RIGHT: a word, a list, a range, a set by name."""
    if isinstance(right, list):
        answers = [is_in(known, it, sets) for it in right]
        return True if True in answers else None if None in answers else False
    if isinstance(right, str) and right.startswith("@"):
        return is_in(known, sets[right[1:]], sets) if right[1:] in sets else None
    if isinstance(right, dict):
        if "set" in right:
            return is_in(known, right["set"], sets)
        if "elem" in right:
            return is_in(known, right["elem"].get("val"), sets)
        if "range" in right:
            low, high = map(number, right["range"])
            numbers = [it for it in map(number, known.values) if it is not None]
            return None if None in (low, high) else any(low <= it <= high for it in numbers)
        return None
    if isinstance(right, str) and right.endswith("*"):
        return any(value.startswith(right[:-1]) for value in known.values)
    return str(right) in known.values


def match(words, sets):
    operator, right = words.get("op"), words.get("right")

    def matches(packet):
        known = left(words.get("left"), packet)
        if not isinstance(known, Known):
            return known
        if operator in ("==", "in"):
            return is_in(known, right, sets)
        if operator == "!=":
            answer = is_in(known, right, sets)
            return None if answer is None else not answer
        value, bound = next((it for it in map(number, known.values) if it is not None), None), number(right)
        if value is None or bound is None:
            return None
        return {"<": value < bound, ">": value > bound, "<=": value <= bound, ">=": value >= bound}.get(operator)

    return matches


def verdict_map(words, sets, table):
    """A rule for each element of a verdict map."""
    data = words.get("data")
    elements = data.get("set", []) if isinstance(data, dict) else sets.get(str(data).lstrip("@"), [])
    for element in elements:
        if not isinstance(element, list) or len(element) != 2:
            continue
        key, value = element
        yield match({"op": "==", "left": words.get("key"), "right": key}, sets), verdict(value, table)


def verdict(expression, table):
    """(verdict, target), or None if the expression is none."""
    for word, meaning in VERDICTS.items():
        if word in expression:
            return meaning, None
    for word in (JUMP, GOTO):
        if word in expression and isinstance(expression[word], dict):
            return word, (*table, expression[word].get("target"))
    return None


# Statements that do not decide whether a rule matches.
HARMLESS = ("counter", "log", "comment", "mangle", "notrack", "set", "map", "masquerade", "ct helper", "flow", "dup")


def rules(expressions, sets, table):
    conditions = []
    for expression in expressions:
        decided = verdict(expression, table)
        if decided:
            yield Rule(lambda packet, c=tuple(conditions): all_of(it(packet) for it in c), *decided)
        elif "match" in expression:
            conditions.append(match(expression["match"], sets))
        elif "vmap" in expression:
            for condition, reached in verdict_map(expression["vmap"], sets, table):
                every = (*conditions, condition)
                yield Rule(lambda packet, c=every: all_of(it(packet) for it in c), *(reached or (CONTINUE, None)))
        elif not any(word in expression for word in HARMLESS):
            # A limit, a quota, a match of iptables: it may match or not.
            conditions.append(lambda packet: None)


def by_iptables(objects):
    """Tables with matches of iptables, which iptables-save shows better."""
    return {(it["rule"]["family"], it["rule"]["table"]) for it in objects
            if "rule" in it and any("xt" in expression for expression in it["rule"].get("expr", []))}


def netdevs(words):
    names = words.get("dev", [])
    return (names,) if isinstance(names, str) else tuple(names)


def load():
    listed = system.once_json("nft", "-j", "list", "ruleset")
    objects = listed.get("nftables", []) if isinstance(listed, dict) else []
    others = by_iptables(objects)
    found, sets = Ruleset(), {}
    for entry in objects:
        for words in (entry[kind] for kind in ("set", "map") if kind in entry):
            sets.setdefault((words["family"], words["table"]), {})[words["name"]] = words.get("elem", [])
    for entry in objects:
        words = entry.get("chain")
        if words and (words["family"], words["table"]) not in others:
            path = (words["family"], words["table"], words["name"])
            found.chains[path] = Chain(
                title=f"nft chain {' '.join(path)}",
                repair=command("nft", "insert", "rule", *path, "udp", "dport", ROCE_PORT, "accept"),
                hook=words.get("hook"), policy=VERDICTS.get(words.get("policy"), ACCEPT),
                versions=FAMILIES.get(words["family"], ()), netdevs=netdevs(words))
    for entry in objects:
        words = entry.get("rule")
        if words and (words["family"], words["table"], words["chain"]) in found.chains:
            table = (words["family"], words["table"])
            chain = found.chains[(*table, words["chain"])]
            chain.rules += rules(words.get("expr", []), sets.get(table, {}), table)
    return found
