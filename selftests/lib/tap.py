# SPDX-License-Identifier: GPL-2.0
"""Test Anything Protocol for programs in Python."""


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
