#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Run the test suite of rdma-core, as Debian ships it with python3-pyverbs, inside a guest; print TAP.

usage: run.py [-r] [-p HOST | -l NETDEV | -n] DEVICE GID-INDEX [PATTERN...]

With patterns only the tests whose name, such as test_cq.CQTest.test_resize_cq, matches one of them run, and not those that
match one behind an exclamation mark; with -r those that are known to skip themselves are left out.

With -p every other of the sides that a test makes is in another guest, where far.py runs with the same DEVICE and GID-INDEX:
in nearly all tests the server. A test during which no frames go between the guests fails then, unless selftests/pyverbs.near
lists it; one that is listed, and has frames go, fails as well.

With -l the netdev that DEVICE sends through loses packets (lib/lossy.sh). A test is run until packets were lost and resent
meanwhile, and fails if that never happens; those that selftests/pyverbs.lossless lists are left out. With -n these alone
run, and nothing is lost.

PYVERBS_SUITE names the directory of another version of the suite. What needs a newer pyverbs than the installed one is left
out, and said so.

A test may skip itself only if selftests/pyverbs.skips lists it; one that is listed and does not skip fails, so that
the list stays as short as it can be. Files of tests for hardware of one vendor are not run at all.
"""

import argparse
import fnmatch
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.append(os.path.join(HERE, os.pardir, "lib"))

import near
import suite
import tap


# Counters of what is sent or asked for again.
RESENT = ("holes_resent", "retransmits", "probes")
# Of a test with 40 packets, the least that there is, one of four runs loses one and resends it.
MOST_RUNS = 80


def flatten(tests):
    for test in tests:
        if isinstance(test, unittest.TestSuite):
            yield from flatten(test)
        else:
            yield test


def name_of(test):
    return test.id().removeprefix("tests.")


def wanted(name, patterns):
    unwanted = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    patterns = [pattern for pattern in patterns if not pattern.startswith("!")] or ["*"]
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns) and \
        not any(fnmatch.fnmatch(name, pattern) for pattern in unwanted)


class List:
    """A list of tests that are an exception: a pattern and a reason on each line."""

    def __init__(self, name):
        with open(os.path.join(HERE, os.pardir, name), encoding="utf-8") as file:
            lines = [line.split(None, 1) for line in file if line.strip() and not line.startswith("#")]
        self.reasons = {pattern: reason.strip() for pattern, reason in lines}

    def reason(self, name):
        for pattern, reason in self.reasons.items():
            if fnmatch.fnmatch(name, pattern):
                return reason
        return None


class Result(unittest.TestResult):
    """One line for each test."""

    def __init__(self):
        super().__init__()
        self.skips = List("pyverbs.skips")
        self.tap = tap.Tap()

    def run(self, test):
        test.run(self)

    def line(self, test, good, comment="", skip=""):
        self.tap.case(name_of(test), good, comment, skip)

    def addSuccess(self, test):
        listed = self.skips.reason(name_of(test))
        self.line(test, not listed, "it ran, but is listed in pyverbs.skips" if listed else "")

    def addSkip(self, test, reason):
        listed = self.skips.reason(name_of(test))
        self.line(test, listed, "" if listed else f"skipped, and not listed in pyverbs.skips: {reason}", listed or "")

    def addFailure(self, test, err):
        self.line(test, False, self._exc_info_to_string(err, test))

    def addError(self, test, err):
        if suite.OTHER_SUITE and issubclass(err[0], AttributeError) and "'pyverbs." in str(err[1]):
            self.line(test, True, skip=f"needs a newer pyverbs: {err[1]}")
        else:
            self.addFailure(test, err)


class PairResult(Result):
    """The same, where tests have one side in another machine."""

    def __init__(self, device, far):
        super().__init__()
        self.device = device
        self.far = far
        self.stays = List("pyverbs.near")
        self.before = 0
        self.crossed = 0

    def startTest(self, test):
        super().startTest(test)
        self.before = self.frames()

    def stopTest(self, test):
        super().stopTest(test)
        self.far.call(None, "close")

    def frames(self):
        return suite.frames(self.device) + self.far.call("suite", "frames", self.device)

    def addSuccess(self, test):
        listed = self.stays.reason(name_of(test))
        if self.frames() == self.before:
            comment = "" if listed else "no frame went between the machines, and it is not listed in pyverbs.near"
        else:
            self.crossed += 1
            comment = "frames went between the machines, but it is listed in pyverbs.near" if listed else ""
        if comment:
            self.line(test, False, comment)
        else:
            super().addSuccess(test)


class LossyResult(Result):
    """The same, where packets are lost: a test that has lost none has to run again."""

    def __init__(self, device, netdev):
        super().__init__()
        self.device = device
        self.netdev = netdev
        self.runs = 0
        self.again = False
        self.before = (0, 0)
        self.lost = 0

    def counts(self):
        """Packets lost, and times that something was resent or asked for again."""
        shown = subprocess.run(["tc", "-s", "qdisc", "show", "dev", self.netdev, "root"], stdout=subprocess.PIPE, text=True,
                               check=True).stdout
        return int(re.search(r"dropped (\d+)", shown)[1]), sum(suite.counter(self.device, name) for name in RESENT)

    def startTest(self, test):
        super().startTest(test)
        self.again = False
        self.before = self.counts()

    def addSuccess(self, test):
        self.runs += 1
        lost, resent = (now - before for now, before in zip(self.counts(), self.before))
        self.lost += lost
        if lost and resent:
            super().addSuccess(test)
        elif self.runs < MOST_RUNS:
            self.again = True
        else:
            self.line(test, False, f"nothing was lost and resent in {self.runs} runs")

    def run(self, test):
        self.runs = 0
        self.again = True
        while self.again:
            test.run(self)


def load(args, directory):
    """Return the tests, and what takes their results."""
    far = near.Near(args.peer) if args.peer else None
    if far:
        own = suite.gid_of(args.device, args.gid)
        suite.swap_destinations((own, far.swap(own)))
        near.stand_in(far)
    package = suite.load(os.path.join(directory, "tests"), args.device, args.gid)
    tests = flatten(unittest.defaultTestLoader.loadTestsFromModule(package))
    if not far:
        return tests, LossyResult(args.device, args.lossy) if args.lossy else Result()
    near.share_sides(far, suite.address_of(own))
    return tests, PairResult(args.device, far)


def parse_arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("-r", dest="repeated", action="store_true")
    parser.add_argument("-p", dest="peer")
    parser.add_argument("-l", dest="lossy")
    parser.add_argument("-n", dest="lossless", action="store_true")
    parser.add_argument("device")
    parser.add_argument("gid")
    parser.add_argument("patterns", nargs="*")
    return parser.parse_args()


def main():
    args = parse_arguments()
    with tempfile.TemporaryDirectory() as directory:
        tests, result = load(args, directory)
        lossless = List("pyverbs.lossless")
        for test in tests:
            if args.repeated and result.skips.reason(name_of(test)):
                continue
            if args.lossless if not lossless.reason(name_of(test)) else args.lossy:
                continue
            if wanted(name_of(test), args.patterns):
                result.run(test)
    if args.lossy:
        print(f"# {result.lost} packets lost")
    if args.peer:
        print(f"# {result.crossed} of them between the machines")
    return result.tap.done()


if __name__ == "__main__":
    sys.exit(main())
