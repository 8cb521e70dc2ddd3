#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Turn what the plugin counted into a table, into results.tsv, and into a verdict; called by run.

Instructions are split by the function they belong to, those of "rep stos" and "rep movs" by themselves:

    module    hroce.ko or rdma_rxe.ko, less its loops for CRC; nothing for TCP
    copy      memcpy(), copy_to_user() and their like
    crc       the loops over bytes; hroce's copy in the same pass
    zero      memset(), clear_page()
    rest      everything else in the kernel

Filling loops count in bytes as well. What is wanted is little of module and rest, "other" in short.
"""

import argparse
import bisect
import collections
import re
import sys

import recorded
from recorded import Row

PACKET = 4096
SETTING = "icount"
MODULES = {"hroce": "hroce", "xdp": "hroce", "rxe": "rdma_rxe", "tcp": None}
CARDS = ("e1000e", "vmxnet3", "virtio")
ALL_CARDS = (*CARDS, "plain")

COPY = re.compile(r"_?_?mem(cpy|move)(_orig|_erms)?$|rep_movs_alternative$|copy_(page|mc)\w*$"
                  r"|csum_partial_copy_generic$|copy_user_\w+$")
ZERO = re.compile(r"_?_?memset(_orig|_erms)?$|clear_page\w*$|rep_stos_alternative$")
CRC = re.compile(r"crc32_(pclmul_)?(le|be)(_16|_base)?$|crc32_body$|hroce_crc_(table|shift|pclmul|avx2|avx512)$")
# Calls of these are counted: a work item is run, a thread is made to run.
WORK = "process_one_work"
WAKE = ("ttwu_do_activate", "try_to_wake_up")

METRICS = ("insn_other", "insn_total", "insn_module", "insn_rest", "insn_copy", "insn_crc", "insn_zero", "zeroed",
           "wakeups")
Window = collections.namedtuple("Window", "system topology workload size messages")
# The bound is for the count, or for its ratio to that of another system.
Target = collections.namedtuple("Target", "what topology workload size metric bound than")

TARGETS = (
    Target("instructions per 4 KB packet, less copy, CRC, zeroing", "veth", "write", 65536, "insn_other", 1 / 8, "rxe"),
    Target("bytes zeroed per payload byte", "veth", "write", 65536, "zeroed", 0.05, None),
    Target("instructions per 64-byte message", "veth", "send", 64, "insn_total", 1 / 10, "rxe"),
    Target("instructions per 64-byte message, in lists", "veth", "send_list", 64, "insn_total", 1 / 10, "rxe"),
    Target("work items and wake-ups per polled message", "veth", "send", 64, "wakeups", 0, None),
    *(Target(f"instructions per 4 KB of 1 MB writes, {card}, MTU {mtu}", f"{card}_{mtu}", "write", 1 << 20, "insn_total",
             bound, "tcp") for card in CARDS for mtu, bound in ((1500, 1), (4200, 0.7))),
)


class Symbols:
    """/proc/kallsyms: which function is at an address?"""

    def __init__(self, path):
        table = {}
        with open(path, encoding="ascii") as file:
            for line in file:
                words = line.split()
                if words[1] not in "tTwW":
                    continue
                address = int(words[0], 16)
                # Of several names the first one is as good as any, but not those of paddings.
                if address not in table or table[address][0].startswith("__pfx_"):
                    table[address] = (words[2], words[3].strip("[]") if len(words) > 3 else "")
        self.addresses = sorted(table)
        self.names = [table[address] for address in self.addresses]

    def find(self, address):
        """Name, module, and whether it is the function's first instruction."""
        index = bisect.bisect_right(self.addresses, address) - 1
        if index < 0:
            return "?", "", False
        return (*self.names[index], self.addresses[index] == address)


class Counts:
    """What was executed in one window."""

    def __init__(self):
        self.user = 0
        self.classes = collections.Counter()
        self.functions = collections.Counter()
        self.calls = collections.Counter()
        self.zeroed = 0

    def add(self, words, symbols, module):
        address, insns, execs, stored = int(words[0], 16), *map(int, words[1:4])
        rep = words[4]
        name, owner, is_entry = symbols.find(address)
        total = insns * execs
        repeated = rep != "-" and insns == 1
        if is_entry:
            self.calls[name] += execs
        if (rep == "s" and repeated) or ZERO.match(name):
            kind = "zero"
            self.zeroed += stored * execs
        elif (rep == "m" and repeated) or COPY.match(name):
            kind = "copy"
        elif CRC.match(name):
            kind = "crc"
        else:
            kind = "module" if owner == module else "rest"
        # Entering "rep stos" is one execution too many, that of finding nothing left.
        if rep == "s" and not repeated and kind == "zero":
            self.zeroed -= stored * execs
        self.classes[kind] += total
        self.functions[name, owner, kind] += total

    def metrics(self, window):
        messages = window.messages
        units = messages * -(-window.size // PACKET)
        result = {f"insn_{kind}": self.classes[kind] / units for kind in ("module", "rest", "copy", "crc", "zero")}
        result["insn_other"] = result["insn_module"] + result["insn_rest"]
        result["insn_total"] = sum(self.classes.values()) / units
        result["zeroed"] = self.zeroed / (messages * window.size)
        wakes = next((self.calls[name] for name in WAKE if name in self.calls), 0)
        result["wakeups"] = (self.calls[WORK] + wakes) / messages
        return result


def load(directory):
    """Counts by window."""
    symbols = Symbols(f"{directory}/kallsyms")
    with open(f"{directory}/windows", encoding="ascii") as file:
        windows = [Window(words[0], words[1], words[2], int(words[3]), int(words[4]))
                   for words in (line.split() for line in file)]
    result = {}
    counts = None
    with open(f"{directory}/blocks", encoding="ascii") as file:
        for line in file:
            words = line.split()
            if words[0] == "window":
                if int(words[1]) >= len(windows):
                    sys.exit("count: there are more windows than work")
                window = windows[int(words[1])]
                counts = result[window] = Counts()
                counts.user = int(words[2])
            else:
                counts.add(words, symbols, MODULES[window.system])
    if len(result) != len(windows):
        sys.exit("count: windows are missing")
    return result


def is_guarded(row):
    """May the count not grow? In windows of long messages most wake-ups are the timer tick's.

    With rules of netfilter only our own instructions count: most others are the stack's. On cards all count for long
    messages, as how often there are interrupts and acknowledgements decides.
    """
    if row.topology.split("_")[0] in ALL_CARDS:
        return (row.system == "hroce" and row.size >= PACKET and row.workload == "write" and
                row.metric in ("insn_module", "insn_total"))
    if row.topology not in ("veth", "local"):
        return row.system == "hroce" and row.metric == "insn_module"
    return row.system == "hroce" and (row.metric in ("insn_other", "insn_total", "zeroed") or
                                      (row.metric == "wakeups" and row.size < PACKET))


def key(window):
    return window.topology, window.workload, window.size


def print_table(rows):
    """The split, for each kind of work and system."""
    kinds = ("insn_total", "insn_module", "insn_rest", "insn_copy", "insn_crc", "insn_zero", "zeroed", "wakeups")
    print("Kernel instructions per 4 KB or smaller message, both ends together:")
    print(f"{'path':12} {'work':10} {'bytes':>7} {'system':6}" +
          "".join(f"{kind.replace('insn_', ''):>10}" for kind in kinds))
    for window, metrics in sorted(rows.items(), key=lambda row: (row[0].size < PACKET, key(row[0]), row[0].system)):
        print(f"{window.topology:12} {window.workload:10} {window.size:7} {window.system:6}" +
              "".join(f"{metrics[kind]:10.0f}" if kind.startswith("insn") else f"{metrics[kind]:10.3f}"
                      for kind in kinds))


def print_targets(rows):
    values = {(window.system, *key(window)): metrics for window, metrics in rows.items()}
    print(f"\n{'':58}{'hroce':>8}{'other':>9}{'':4}{'ratio':>8}{'at most':>9}")
    for target in TARGETS:
        where = target.topology, target.workload, target.size
        hroce, other = (values.get((system, *where), {}).get(target.metric) for system in ("hroce", target.than))
        if hroce is None:
            continue
        ratio = hroce / other if other else None
        measured = ratio if target.than else hroce
        met = measured is not None and measured <= target.bound + recorded.SLACK.get(target.metric, 0)
        digits = 0 if target.metric.startswith("insn") else 3
        print(f"{target.what:58}{hroce:8.{digits}f}" + (f"{other:9.{digits}f}" if other is not None else f"{'-':>9}") +
              f" {target.than or '':3}" + (f"{ratio:8.3f}" if ratio is not None else f"{'-':>8}") +
              f"{target.bound:9.3f}  {'met' if met else 'not met' if measured is not None else ''}")


def print_top(counts, number):
    """Where the instructions of hroce's windows are."""
    for window, count in counts.items():
        if window.system not in ("hroce", "xdp"):
            continue
        units = window.messages * -(-window.size // PACKET)
        print(f"\n{window.topology} {window.workload} {window.size}: instructions, share, calls per "
              f"{'packet' if window.size >= PACKET else 'message'}")
        total = sum(count.functions.values())
        for (name, owner, kind), value in count.functions.most_common(number):
            where = (f" [{owner}]" if owner else "") + ("" if kind in ("module", "rest") else f" ({kind})")
            print(f"{value / units:10.1f} {100 * value / total:5.1f} % {count.calls[name] / units:8.3f}  {name}{where}")


def main():
    parser = argparse.ArgumentParser()
    recorded.add_arguments(parser)
    parser.add_argument("directory", help="with blocks, windows and kallsyms")
    args = parser.parse_args()
    counts = load(args.directory)
    windows = {window: count.metrics(window) for window, count in counts.items()}
    print_table(windows)
    print_targets(windows)
    if args.top:
        print_top(counts, args.top)
    rows = {Row(*key(window), metric, window.system): metrics[metric]
            for window, metrics in windows.items() for metric in METRICS}
    return recorded.finish(args, SETTING, rows, {row: value for row, value in rows.items() if is_guarded(row)})


if __name__ == "__main__":
    raise SystemExit(main())
