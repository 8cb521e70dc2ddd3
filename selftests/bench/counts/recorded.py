# SPDX-License-Identifier: GPL-2.0
"""Counts: write them down, compare them with recorded ones, record new ones."""

import collections
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, os.pardir, "lib"))

import tap

Row = collections.namedtuple("Row", "topology workload size metric system")

# A count may grow by so little that it says nothing: the kernel's own threads wake up now and then.
SLACK = {"zeroed": 0.005, "wakeups": 0.02}
# What is zeroed comes in pages now and then: bytes for each message or packet.
SLACK_BYTES = 16
# With rules of netfilter, both ends fall into step now and then: throughout a window, each short message gets an ACK
# of its own, or every second one, or every third, and who is in step differs from run to run.
RULES = ("rule_out", "rules", "rules_lo", "unstrict")
IN_STEP_PERCENT = 15


def add_arguments(parser):
    """Those that both programs have."""
    parser.add_argument("--top", type=int, default=0, metavar="N", help="list the N most expensive functions")
    parser.add_argument("--results", metavar="FILE", help="write all counts there, in the format of results.tsv")
    parser.add_argument("--recorded", metavar="FILE", help="compare with the counts recorded in FILE, as TAP")
    parser.add_argument("--tolerance", type=int, default=5, metavar="N", help="by N per cent a count may grow")
    parser.add_argument("--update", action="store_true", help="record the counts in that FILE instead")


def slack(row):
    least = SLACK.get(row.metric, 1)
    return least + SLACK_BYTES / row.size if row.metric == "zeroed" else least


def falls_into_step(row):
    return (row.topology in RULES and row.size == 64 and not row.workload.endswith("_list") and
            row.metric.startswith("insn"))


def write_results(path, setting, rows):
    with open(path, "w", encoding="ascii") as file:
        print("setting", *Row._fields, "median", "min", "max", "runs", sep="\t", file=file)
        for row, value in rows.items():
            print(setting, *row, *[f"{value:.6g}"] * 3, 1, sep="\t", file=file)


class Recorded:
    """The file with recorded counts."""

    def __init__(self, path, tolerance):
        self.path = path
        self.tolerance = tolerance

    def load(self):
        rows = {}
        if os.path.exists(self.path):
            with open(self.path, encoding="ascii") as file:
                for line in file:
                    if line.startswith("#"):
                        continue
                    words = line.split()
                    rows[Row(words[0], words[1], int(words[2]), words[3], words[4])] = float(words[5])
        return rows

    def save(self, rows):
        with open(self.path, "w", encoding="ascii") as file:
            print("# SPDX-License-Identifier: GPL-2.0", file=file)
            print("# Made with option -u of selftests/bench/counts/run or run-proto.", file=file)
            print("#", *Row._fields, "count", file=file)
            for row, value in sorted(rows.items()):
                print(*row, f"{value:.4g}" if row.metric in SLACK else f"{value:.0f}", sep="\t", file=file)

    def judge(self, rows):
        """Say what became of each recorded count, as TAP. Return the exit status."""
        old = self.load()
        report = tap.Tap(len(rows))
        for row, value in sorted(rows.items()):
            percent = max(self.tolerance, IN_STEP_PERCENT) if falls_into_step(row) else self.tolerance
            share = percent / 100
            name = "_".join(map(str, row))
            was = old.get(row)
            limit = None if was is None else was * (1 + share) + slack(row)
            fine = limit is not None and value <= limit
            comment = ""
            if was is None:
                comment = f"{name}: {value:.4g}, but nothing is recorded; record it with option -u"
            elif not fine:
                comment = f"{name}: {value:.4g}, more than {percent} % above {was:.4g}"
            elif value < was * (1 - share) - slack(row):
                comment = f"{name}: {value:.4g} instead of {was:.4g}: record that with option -u"
            report.case(name, fine, comment)
        return report.done()


def finish(args, setting, rows, guarded):
    """Do what the arguments ask for; only @guarded are recorded and compared. Return the exit status."""
    if args.results:
        write_results(args.results, setting, rows)
    if not args.recorded:
        return 0
    recorded = Recorded(args.recorded, args.tolerance)
    if args.update:
        recorded.save(guarded)
        return 0
    return recorded.judge(guarded)
