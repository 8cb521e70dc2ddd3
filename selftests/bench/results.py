# SPDX-License-Identifier: GPL-2.0
"""results.tsv: one row for each thing measured."""

import collections
import statistics

Row = collections.namedtuple("Row", "setting topology workload size metric system median min max runs")


def row(setting, topology, workload, size, metric, system, values):
    """The Row of all values that one metric had."""
    return Row(setting, topology, workload, int(size), metric, system, statistics.median(values), min(values),
               max(values), len(values))


def read(path):
    with open(path, encoding="utf-8") as file:
        if tuple(file.readline().split()) != Row._fields:
            raise ValueError(f"{path}: other columns than {' '.join(Row._fields)}")
        fields = [line.rstrip("\n").split("\t") for line in file]
    return [Row(*words[:3], int(words[3]), *words[4:6], *map(float, words[6:9]), int(words[9])) for words in fields]


def write(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        print(*Row._fields, sep="\t", file=file)
        for one in rows:
            print(*one[:6], *(f"{value:.6g}" for value in one[6:9]), one.runs, sep="\t", file=file)


def read_raw(path):
    """What measure.py wrote: rows, and reasons of failed attempts by (setting, topology, workload, size, system)."""
    values = collections.defaultdict(list)
    failures = collections.defaultdict(list)
    with open(path, encoding="utf-8") as file:
        for line in file:
            setting, topology, workload, size, metric, system, value = line.rstrip("\n").split("\t")
            if metric == "failed":
                failures[setting, topology, workload, size, system].append(value)
            else:
                values[setting, topology, workload, size, metric, system].append(float(value))
    return [row(*key, numbers) for key, numbers in values.items()], failures


class Results:
    """Rows by what was measured."""

    def __init__(self, rows):
        self.rows = {one[:6]: one for one in rows}

    def get(self, setting, topology, workload, size, metric, system):
        return self.rows.get((setting, topology, workload, size, metric, system))

    def value(self, *key):
        """The median, or None."""
        found = self.get(*key)
        return found.median if found else None
