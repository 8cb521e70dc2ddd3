# SPDX-License-Identifier: GPL-2.0
"""Which charts there are, and their files."""

import collections
import os
import re

from chart import Chart

PLACES = {"local": "one host", "veth": "two namespaces, ICRC on", "guests": "two guests",
          "wire_9000": "single packets, MTU 9000", "wire_4200": "MTU 4200", "wire_1500": "MTU 1500"}
SETTINGS = {"uml": "user-mode Linux, 1 CPU", "qemu": "QEMU, 2 CPUs"}


def lines(rows, workload, metric, x_of):
    """(setting, topology) to system to its points; x_of(row) is None for rows that do not belong there."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows:
        if re.fullmatch(workload, row.workload) and row.metric == metric and row.topology in PLACES and row.min > 0:
            found[row.setting, row.topology][row.system].append((x_of(row), row.median, row.min, row.max))
    for systems in found.values():
        for points in systems.values():
            points.sort()
    return found


def queue_pairs(row):
    return int(row.workload.split("_")[1])


def charts(rows):
    """File name, title, axis titles and lines of each chart."""
    big = [row for row in rows if row.size == 65536]
    for name, title, x_title, y_title, found in (
            ("bandwidth", "Writes", "bytes", "MB/s", lines(rows, "write", "MBps", lambda row: row.size)),
            ("latency", "Write latency, typical", "bytes", "us", lines(rows, "write_lat", "us_typ",
                                                                       lambda row: row.size)),
            ("queue-pairs", "64 KB writes", "queue pairs", "MB/s", lines(big, r"qps_\d+", "MBps", queue_pairs))):
        for (setting, topology), systems in found.items():
            if max(len(points) for points in systems.values()) > 1:
                yield (f"{name}-{setting}-{topology}.svg",
                       f"{title}: {PLACES[topology]} ({SETTINGS.get(setting, setting)})", x_title, y_title, systems)


def write_all(directory, rows):
    """Write all charts that have something to show. Return their paths."""
    paths = []
    for name, title, x_title, y_title, systems in charts(rows):
        paths.append(os.path.join(directory, name))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(Chart(title, x_title, y_title, dict(sorted(systems.items()))).svg())
    return paths
