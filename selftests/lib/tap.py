# SPDX-License-Identifier: GPL-2.0
"""Test Anything Protocol for programs in Python."""

import re

CASE = re.compile(r"(not )?ok\b(?: +\d+)?(?: +-)? *(.*)")
PLAN = re.compile(r"1\.\.(\d+)(?: *# *SKIP\b *(.*))?$", re.I)


class Tap:
    """Numbers the cases and prints a line for each; without a plan at first, done() prints it."""

    def __init__(self, plan=None):
        self.planned = plan is not None
        self.count = 0
        self.bad = 0
        print("TAP version 13")
        if self.planned:
            print(f"1..{plan}", flush=True)

    def case(self, name, good, comment="", skip=""):
        self.count += 1
        self.bad += not good
        for text in str(comment).splitlines():
            print("# " + text)
        print(f"{'' if good else 'not '}ok {self.count} - {name}{' # SKIP ' + skip if skip else ''}", flush=True)

    def done(self):
        """Return the exit status."""
        if not self.planned:
            print(f"1..{self.count}")
        return 1 if self.bad else 0


class Merger:
    """Makes one stream of those of several programs: one plan, each case numbered anew and named after its program."""

    def __init__(self):
        self.count = 0
        self.planned = {}

    def line(self, program, line):
        """Return the line to print for one of a program; None if there is none."""
        case = CASE.match(line)
        plan = PLAN.match(line)
        if case:
            self.planned.setdefault(program)
            return self.case(program, case[1], case[2])
        if plan and self.planned.get(program) is None:
            self.planned[program] = int(plan[1]) or 1
            return None if int(plan[1]) else self.case(program, "", f"all # SKIP {plan[2] or ''}")
        if plan:
            return line
        if line.startswith("TAP version "):
            return None
        return f"{program}: {line}"

    def case(self, program, bad, name):
        self.count += 1
        return f"{bad or ''}ok {self.count} - {program}: {name}"

    def plan(self):
        """Return the plan, unless a program has cases and no plan of its own; None if no program has any."""
        if not self.planned or None in self.planned.values():
            return None
        return f"1..{sum(self.planned.values())}"
