#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Turn what was measured into results.tsv, tables and plots: report.py DIRECTORY.

DIRECTORY has raw-*.tsv, from measure.py, and may have rows-*.tsv with rows of other origin, in the form of results.py.
"""

import glob
import os
import sys

import plots
import results
import table


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: report.py DIRECTORY")
    directory = sys.argv[1]
    rows, failures = [], {}
    for path in sorted(glob.glob(os.path.join(directory, "raw-*.tsv"))):
        more, failed = results.read_raw(path)
        rows += more
        failures.update(failed)
    for path in sorted(glob.glob(os.path.join(directory, "rows-*.tsv"))):
        rows += results.read(path)
    if not rows:
        sys.exit("report: nothing was measured")
    results.write(os.path.join(directory, "results.tsv"), rows)
    found = results.Results(rows)
    table.print_results(found)
    table.print_failures(failures)
    print()
    table.print_targets(found)
    for path in plots.write_all(directory, rows):
        print("plot:", path)


if __name__ == "__main__":
    main()
