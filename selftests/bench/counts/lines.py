#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tell which cache lines two CPUs take from each other: from what lines.c and sharing.sh leave; called by run-lines."""

import argparse
import bisect
import collections
import re
import sys

LINE = 64
# Less often than that a line moves by chance: timer ticks, and the beginning and end of a window.
RARE = 0.02
KERNEL_BASE = 1 << 63
STATIC_BASE = 0xffffffff80000000
Window = collections.namedtuple("Window", "topology workload messages")
Access = collections.namedtuple("Access", "cpu kind where owner count")
ALLOCATION = re.compile(r"call_site=(\S+).* ptr=(?:0x)?([0-9a-f]+) bytes_req=(\d+) bytes_alloc=(\d+)")
KINDS = {"t": "takes", "f": "fetches"}


class Ranges:
    """What is at an address, where later ranges replace earlier ones that begin alike."""

    def __init__(self):
        self.names = {}
        self.starts = None

    def add(self, start, length, name, owner=""):
        self.names[start] = (length, name, owner)

    def find(self, address):
        """Name, offset, and owner; None if nothing is known to be there."""
        if self.starts is None:
            self.starts = sorted(self.names)
        index = bisect.bisect_right(self.starts, address) - 1
        if index < 0:
            return None
        start = self.starts[index]
        length, name, owner = self.names[start]
        return (name, address - start, owner) if address < start + length else None


def symbols(path):
    """Functions, and static data."""
    table = []
    with open(path, encoding="ascii") as file:
        for line in file:
            words = line.split()
            if not words[2].startswith("__pfx_"):
                table.append((int(words[0], 16), words[2], words[3].strip("[]") if len(words) > 3 else ""))
    table.sort()
    ranges = Ranges()
    for (start, name, owner), (after, *_) in zip(table, [*table[1:], (1 << 64,)]):
        if start >= STATIC_BASE and after > start:
            ranges.add(start, after - start, name, owner)
    return ranges


def allocations(path):
    """Objects of the slab allocator."""
    ranges = Ranges()
    with open(path, encoding="ascii", errors="replace") as file:
        for line in file:
            found = ALLOCATION.search(line)
            if found:
                site, pointer, wanted, taken = found.groups()
                ranges.add(int(pointer, 16), int(taken), f"{wanted} bytes of {site.split('+')[0]}()",
                           "hroce" if "[hroce]" in line else "")
    return ranges


def areas(path):
    """Memory that is mapped for the kernel page by page."""
    ranges = Ranges()
    with open(path, encoding="ascii") as file:
        for line in file:
            words = line.split()
            start, end = (int(word, 16) for word in words[0].split("-"))
            caller = words[2] if len(words) > 2 else "?"
            ranges.add(start, end - start, f"pages of {caller.split('+')[0]}()", "hroce" if "[hroce]" in line else "")
    return ranges


class Map:
    """Where everything is."""

    def __init__(self, directory):
        self.symbols = symbols(f"{directory}/kallsyms")
        self.others = [allocations(f"{directory}/allocations"), areas(f"{directory}/vmallocinfo")]

    def function(self, address):
        found = self.symbols.find(address)
        if address < KERNEL_BASE:
            return "the process", ""
        return (found[0], found[2]) if found else (f"{address:x}", "")

    def place(self, address):
        """Name of what is on the line at a virtual address, and the module that it belongs to."""
        if address < KERNEL_BASE:
            return "memory of the process", ""
        for ranges in ([self.symbols] if address >= STATIC_BASE else self.others):
            # An object need not begin with a line.
            found = ranges.find(address) or ranges.find(address + LINE - 1)
            if found:
                return f"{found[0]} + {max(found[1], 0) // LINE * LINE}", found[2]
        return f"{address:x}", ""


class Line:
    """A line of memory that moved in a window."""

    def __init__(self, words, places):
        self.place, owner = places.place(int(words[1], 16))
        self.taken, self.fetched = int(words[2]), int(words[3])
        self.written = [int(word, 16) for word in words[4:6]]
        self.accesses = []
        for word in words[6:]:
            cpu, kind, address, count = word.split(":")
            where, module = places.function(int(address, 16))
            self.accesses.append(Access(int(cpu), kind, where, module, int(count)))
        self.is_ours = owner == "hroce" or any(access.owner == "hroce" for access in self.accesses)

    def who(self, messages):
        """Which functions made it move, those that do so most often first."""
        counts = collections.Counter()
        for access in self.accesses:
            counts[access.cpu, access.kind, access.where] += access.count
        return ", ".join(f"{where}() {KINDS[kind]}" for (_, kind, where), count in counts.most_common(4)
                         if count / messages >= RARE)


def words(mask):
    """Bytes that the words of a line are at."""
    return ",".join(str(8 * word) for word in range(8) if mask & 1 << word) or "-"


def load(directory, places):
    """Lines by window."""
    with open(f"{directory}/windows", encoding="ascii") as file:
        windows = [Window(topology, workload, int(messages)) for topology, workload, messages in
                   (line.split() for line in file)]
    result = {}
    with open(f"{directory}/lines", encoding="ascii") as file:
        for line in file:
            fields = line.split()
            if fields[0] == "window":
                if int(fields[1]) >= len(windows):
                    sys.exit("lines: there are more windows than work")
                here = result[windows[int(fields[1])]] = []
            else:
                here.append(Line(fields, places))
    if not windows or len(result) != len(windows):
        sys.exit("lines: windows are missing")
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true", help="lines of others, too")
    parser.add_argument("directory", help="with lines, windows, kallsyms, vmallocinfo and allocations")
    args = parser.parse_args()
    for window, lines in load(args.directory, Map(args.directory)).items():
        often = [line for line in lines if (line.taken + line.fetched) / window.messages >= RARE]
        ours = [line for line in often if line.is_ours]
        print(f"\n{window.topology} {window.workload}, per message:")
        for name, some in (("hroce", ours), ("all", often)):
            print(f"{name:6} {sum(line.taken for line in some) / window.messages:6.2f} taken "
                  f"{sum(line.fetched for line in some) / window.messages:6.2f} fetched, of {len(some)} lines")
        for line in sorted(often if args.all else ours, key=lambda line: -line.taken - line.fetched):
            print(f"  {line.taken / window.messages:5.2f} {line.fetched / window.messages:5.2f}  {line.place}; "
                  f"CPU 0 writes {words(line.written[0])}, CPU 1 {words(line.written[1])}; {line.who(window.messages)}")


if __name__ == "__main__":
    main()
