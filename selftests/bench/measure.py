#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Measure, inside a guest: every workload for every system in turn, round after round; called by run.

On "veth" hroce computes and checks the ICRC, as between two nodes; on "veth_elided" it may find out that frames stay
on this host, and leave it out. What is said to cross a wire is checked by the byte counters of the netdev.

Each line of the result: setting, topology, workload, size, metric, system, value; the metric "failed" has a reason as
its value, and such an attempt counts for nothing else.
"""

import argparse
import os
import sys

import paths
from agent import RemoteHost
from catalog import Catalog
from host import Failed, Host, TimedOut
from workloads import Trial

ATTEMPTS = 6
# The first attempts of this many rounds in vain, and the workload is given up for that system.
PATIENT_ROUNDS = 2


def names(text):
    return [name for name in text.split(",") if name]


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--setting", required=True)
    parser.add_argument("--agent", help="address:port of another guest's agent.py: measure between two guests")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=3000)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--topologies", type=names, default=[])
    parser.add_argument("--systems", type=names, default=["hroce", "rxe", "tcp", "bbr", "udp", "memcpy"])
    parser.add_argument("--workloads", type=names, default=[])
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in names(text)], default=[])
    parser.add_argument("--programs", required=True, help="directory of our own programs")
    parser.add_argument("out", help="file for the results")
    args = parser.parse_args()
    args.cpus = os.cpu_count()
    return args


def attempt(job, path):
    path.prepare()
    trial = Trial(path)
    try:
        values = job.run(trial)
    finally:
        trial.end()
    for metric, value in values.items():
        if not 0 <= value < float("inf") or (not value and metric in ("MBps", "msgps", "us_typ")):
            raise Failed(f"{metric} is {value}")
    return values


def plan(ways, args):
    """What one round measures, the systems side by side for each workload: (topology, entry, path)."""
    entries = Catalog(args).entries
    order = {}
    for entry in entries:
        order.setdefault((entry.workload, entry.size), len(order))
    rows = [(topology, entry, path) for (topology, system), path in ways.items() for entry in entries
            if entry.system == system and topology in entry.topologies
            and (not args.topologies or topology in args.topologies)]
    return sorted(rows, key=lambda row: (order[row[1].workload, row[1].size], row[0]))


class Report:
    """The file of results, and what is shown of it."""

    def __init__(self, setting, out):
        self.setting = setting
        self.out = out
        self.round = 0

    def line(self, topology, entry, metric, value):
        print(self.setting, topology, entry.workload, entry.size, metric, entry.system, value, sep="\t",
              file=self.out, flush=True)

    def show(self, topology, entry, text):
        print(f"{self.setting} round {self.round}: {topology:6} {entry.workload:10} {entry.size:8} {entry.system:6} "
              f"{text}", flush=True)

    def add(self, topology, entry, values):
        for metric, value in values.items():
            self.line(topology, entry, metric, f"{value:.6g}")
        self.show(topology, entry, ", ".join(f"{metric} {value:.4g}" for metric, value in values.items()))

    def add_failure(self, topology, entry, error):
        self.line(topology, entry, "failed", " ".join(str(error).split()))
        self.show(topology, entry, f"failed: {error}")


def measure_row(report, topology, entry, path):
    for _ in range(ATTEMPTS):
        try:
            report.add(topology, entry, attempt(entry.job, path))
            return True
        except (Failed, OSError, ValueError, KeyError) as error:
            report.add_failure(topology, entry, error)
            if isinstance(error, TimedOut):
                # That took long enough; there is the next round.
                break
    return False


def measure(rows, rounds, report):
    """Return the systems of rows that never gave a value."""
    good, bad = set(), {}
    for report.round in range(1, rounds + 1):
        # There and back again, so that no system always follows the same other one.
        for row in rows if report.round % 2 else rows[::-1]:
            key = id(row[1]), row[0]
            if report.round > row[1].rounds:
                continue
            if key not in good and bad.get(key, 0) >= PATIENT_ROUNDS:
                continue
            if measure_row(report, *row):
                good.add(key)
            else:
                bad[key] = bad.get(key, 0) + 1
    return [entry.system for topology, entry, _ in rows if (id(entry), topology) not in good]


def main():
    args = parse_arguments()
    here = Host()
    if args.agent:
        address, port = args.agent.split(":")
        ways = paths.between_guests(here, RemoteHost(address, int(port)), args.systems)
    else:
        ways = paths.in_one_guest(here, args.systems)
    rows = plan(ways, args)
    if not rows:
        print(f"{args.setting}: nothing to measure")
        return
    with open(args.out, "w", encoding="utf-8") as out:
        missing = measure(rows, args.rounds, Report(args.setting, out))
    if missing:
        print(f"{args.setting}: {len(missing)} rows without any value")
    # What the others cannot do is no failure.
    sys.exit("hroce" in missing)


if __name__ == "__main__":
    main()
