#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Turn the measurements of measure.py into results.tsv and a table; called by run."""

import collections
import statistics
import sys

SETTING = "qemu"
SYSTEMS = ("hroce", "rxe", "tcp", "udp", "memcpy")

# Where a topology is a variant: what to compare it with.
SAME_AS = {"veth_elided": "veth"}

# What is wanted: topology, workload, size, metric, and the bound of hroce / rxe.
TARGETS = (
    ("veth", "write", 65536, "MBps", 2.0, "at least"),
    ("local", "write", 65536, "MBps", 8.0, "at least"),
    ("veth", "write_lat", 8, "us_typ", 1 / 3, "at most"),
)

Key = collections.namedtuple("Key", "topology workload size metric system")


def load(path):
    """Values by Key, and reasons of failure by (topology, workload, size, system)."""
    values = collections.defaultdict(list)
    failures = collections.defaultdict(list)
    with open(path, encoding="utf-8") as file:
        for line in file:
            _, topology, workload, size, metric, system, value = line.rstrip("\n").split("\t")
            if metric == "failed":
                failures[topology, workload, int(size), system].append(value)
            else:
                values[Key(topology, workload, int(size), metric, system)].append(float(value))
    return values, failures


def write_results(path, values):
    with open(path, "w", encoding="utf-8") as file:
        print("setting", *Key._fields, "median", "min", "max", "runs", sep="\t", file=file)
        for key, numbers in values.items():
            print(SETTING, *key, *(f"{number:.6g}" for number in
                                   (statistics.median(numbers), min(numbers), max(numbers))),
                  len(numbers), sep="\t", file=file)


def number(value):
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def spread(numbers):
    return f"{number(statistics.median(numbers))} ({number(min(numbers))}-{number(max(numbers))})"


def ratio(values, key, system):
    """hroce / system."""
    other = key._replace(system=system, topology=SAME_AS.get(key.topology, key.topology))
    both = [values.get(key._replace(system="hroce")), values.get(other)]
    return statistics.median(both[0]) / statistics.median(both[1]) if all(both) else None


def print_table(values, failures):
    rows = sorted({key._replace(system="") for key in values},
                  key=lambda key: (key.topology, list(dict.fromkeys(k.workload for k in values)).index(key.workload),
                                   key.size, key.metric))
    systems = [name for name in SYSTEMS if any(key.system == name for key in values)]
    runs = max(len(numbers) for numbers in values.values())
    print(f"Medians of {runs} (smallest-largest)")
    lines = [["path", "workload", "bytes", "metric", *systems, "hroce/rxe", "hroce/tcp"]]
    for row in rows:
        cells = [row.topology, row.workload, str(row.size), row.metric]
        for name in systems:
            numbers = values.get(row._replace(system=name))
            cells.append(spread(numbers) if numbers else "-")
        for name in ("rxe", "tcp"):
            quotient = ratio(values, row, name)
            cells.append(f"{quotient:.2f}" if quotient else "-")
        lines.append(cells)
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
    for (topology, workload, size, system), reasons in failures.items():
        print(f"failed attempts, not counted above: {topology} {workload} {size} {system}: {len(reasons)} "
              f"({reasons[-1]})")


def print_targets(values):
    print("Targets, hroce against rdma_rxe")
    for topology, workload, size, metric, bound, which in TARGETS:
        quotient = ratio(values, Key(topology, workload, size, metric, "hroce"), "rxe")
        if quotient is None:
            verdict = "not measured"
        else:
            met = quotient >= bound if which == "at least" else quotient <= bound
            verdict = f"{quotient:.2f}: {'met' if met else 'missed'}"
        print(f"  {topology} {workload} {size} {metric}, {which} {bound:.2f}: {verdict}")


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: report.py RAW RESULTS")
    values, failures = load(sys.argv[1])
    if not values:
        sys.exit("report: nothing was measured")
    write_results(sys.argv[2], values)
    print_table(values, failures)
    print_targets(values)


if __name__ == "__main__":
    main()
