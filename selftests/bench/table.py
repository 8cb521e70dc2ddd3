# SPDX-License-Identifier: GPL-2.0
"""The tables of what was measured, and of the targets, as text."""

from targets import TARGETS

SYSTEMS = ("hroce", "rxe", "to_rxe", "from_rxe", "tcp", "bbr", "udp", "memcpy")
# Where a topology is a variant: what its peers are.
SAME_AS = {"veth_elided": "veth"}


def number(value):
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def spread(row):
    if row.runs == 1:
        return number(row.median)
    return f"{number(row.median)} ({number(row.min)}-{number(row.max)})"


def print_columns(lines):
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def print_results(results):
    """One line for each figure, the systems side by side."""
    order = {}
    for key in results.rows:
        order.setdefault(key[2], len(order))
    figures = sorted({key[:5] for key in results.rows}, key=lambda key: (key[0], key[1], order[key[2]], *key[3:]))
    systems = [name for name in SYSTEMS if any(key[5] == name for key in results.rows)]
    peers = [name for name in systems if name != "hroce"]
    lines = [["setting", "path", "workload", "bytes", "metric", *systems, *(f"/{name}" for name in peers)]]
    for figure in figures:
        cells = [*map(str, figure)]
        mine = results.value(*figure, "hroce")
        rows = {name: results.get(figure[0], figure[1] if name == "hroce" else SAME_AS.get(figure[1], figure[1]),
                                  *figure[2:], name) for name in systems}
        cells += [spread(rows[name]) if rows[name] else "-" for name in systems]
        cells += [f"{mine / rows[name].median:.2f}" if mine and rows[name] and rows[name].median else "-"
                  for name in peers]
        lines.append(cells)
    print("Medians (smallest-largest), and ratios of hroce to the others")
    print_columns(lines)


def print_failures(failures):
    for (setting, topology, workload, size, system), reasons in failures.items():
        print(f"failed attempts, not counted above: {setting} {topology} {workload} {size} {system}: {len(reasons)} "
              f"({reasons[-1]})")


def print_targets(results):
    """One line for each target that was measured."""
    lines = [["target", "setting", "bound", "measured", ""]]
    missing = 0
    for target in TARGETS:
        value = target.measured(results)
        if value is None:
            missing += 1
            continue
        bound = f"{'>=' if target.at_least else '<='} {number(target.bound)}"
        lines.append([target.what, target.figure[0], bound, number(value), "met" if target.met(value) else "MISSED"])
    print("Targets: hroce divided by what stands behind the colon")
    print_columns(lines)
    if missing:
        print(f"{missing} more targets were not measured")
