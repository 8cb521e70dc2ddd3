#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Read what callgrind counted of proto.c; called by run-proto.

Each dump is one scenario; its totals are the instructions of all functions step_*(), with all that they call.
"""

import argparse
import collections
import glob
import re

import recorded
from recorded import Row

PACKET = 4096
SETTING = "callgrind"
# Parts of the table, and the steps that they consist of.
PARTS = {
    "request": ("step_request", "step_sent"),
    "build": ("step_build",),
    "parse": ("step_parse",),
    "respond": ("step_respond",),
    "answer": ("step_answer", "step_answered"),
    "complete": ("step_complete",),
}


class Dump:
    """One of callgrind's files: instructions by function, alone and with what it calls."""

    def __init__(self, path):
        self.names = {}
        self.alone = collections.Counter()
        self.whole = collections.Counter()
        self.calls = collections.Counter()
        self.title = ""
        with open(path, encoding="utf-8") as file:
            self.read(file)

    def name(self, text):
        """Names are given once, and then by number."""
        number, _, name = text.strip().partition(" ")
        if name:
            self.names[number] = name
        return self.names[number]

    def read(self, file):
        function = callee = None
        for line in file:
            if line.startswith("desc: Trigger: Client Request: "):
                self.title = line.split(": ", 3)[3].strip()
            elif line.startswith("fn="):
                function = self.name(line[3:])
            elif line.startswith("cfn="):
                callee = self.name(line[4:])
            elif line.startswith("calls="):
                self.calls[callee] += int(line[6:].split()[0])
            elif re.match(r"[\d+*-]", line):
                cost = int(line.split()[1])
                self.whole[function] += cost
                if callee:
                    callee = None
                else:
                    self.alone[function] += cost


def main():
    parser = argparse.ArgumentParser()
    recorded.add_arguments(parser)
    parser.add_argument("dumps", help="callgrind's files, up to the number at their end")
    args = parser.parse_args()

    dumps = [dump for dump in map(Dump, sorted(glob.glob(args.dumps + ".[0-9]*"))) if dump.title]
    rows = {}
    print("Instructions of kernel/proto per 4 KB packet or smaller message, both ends together:")
    print(f"{'work':10} {'bytes':>6}{'total':>10}" + "".join(f"{part:>10}" for part in PARTS))
    for dump in dumps:
        work, size, messages = dump.title.split()
        units = int(messages) * -(-int(size) // PACKET)
        total = sum(dump.alone.values()) / units
        rows[Row("none", work, int(size), "insn_total", "hroce")] = total
        print(f"{work:10} {size:>6}{total:10.0f}" +
              "".join(f"{sum(dump.whole[step] for step in steps) / units:10.0f}" for steps in PARTS.values()))
        for name, value in dump.alone.most_common(args.top):
            print(f"    {value / units:10.1f} {dump.calls[name] / units:8.3f} calls  {name}")
    return recorded.finish(args, SETTING, rows, rows)


if __name__ == "__main__":
    raise SystemExit(main())
