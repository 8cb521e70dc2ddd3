#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Run the test suite of rdma-core, as Debian ships it with python3-pyverbs, inside a guest; print TAP.

usage: run.py [-r] DEVICE[,PEER] GID-INDEX [PATTERN...]

With patterns only the tests whose name, such as test_cq.CQTest.test_resize_cq, matches one of them run, and not those that
match one behind an exclamation mark; with -r those that are known to skip themselves are left out.

With a PEER, a link that the first one reaches by the GID of that index, every other of the sides that a test makes is on
that one: in nearly all tests the server. Those of rdma_cm stay on the first link, as both sides are told the same address.

PYVERBS_SUITE names the directory of another version of the suite. What needs a newer pyverbs than the installed one is left
out, and said so.

A test may skip itself only if selftests/pyverbs.skips lists it; one that is listed and does not skip fails, so that
the list stays as short as it can be. Files of tests for hardware of one vendor are not run at all.
"""

import ctypes
import fnmatch
import glob
import gzip
import importlib.machinery
import itertools
import os
import shutil
import sys
import tempfile
import traceback
import unittest

import pyverbs.addr
import pyverbs.mem_alloc

OTHER_SUITE = os.environ.get("PYVERBS_SUITE")
SUITE = OTHER_SUITE or "/usr/share/doc/rdma-core/tests"
SKIPS = os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "pyverbs.skips")
FOREIGN = ("test_mlx5_*", "test_efa*", "test_cuda_*")


def unpack(directory):
    """Copy the suite, uncompressed and without what belongs to other vendors."""
    os.mkdir(directory)
    for path in glob.glob(SUITE + "/*.py*"):
        name = os.path.basename(path)
        if any(fnmatch.fnmatch(name, pattern) for pattern in FOREIGN):
            continue
        with gzip.open(path) if name.endswith(".gz") else open(path, "rb") as source:
            with open(os.path.join(directory, name.removesuffix(".gz")), "wb") as copy:
                shutil.copyfileobj(source, copy)


def load(directory, device, peer, gid):
    """Import the suite, set up for one device, and return its tests."""
    sys.path.insert(0, directory)
    from args_parser import parser
    sys.argv[1:] = ["--dev", device, "--gid", gid]
    parser.parse_args()
    if peer:
        swap_destinations((gid_of(device, gid), gid_of(peer, gid)))
    package = load_package(directory)
    find_netdev()
    if peer:
        use_peer(device, peer)
    return flatten(unittest.defaultTestLoader.loadTestsFromModule(package))


def madvise(address, length, advice=4):
    """Versions from 46 on expect it in pyverbs.mem_alloc; later ones mean MADV_DONTNEED without saying so."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.madvise(ctypes.c_void_p(address), ctypes.c_size_t(length), advice):
        raise OSError(ctypes.get_errno(), "madvise")


def load_package(directory):
    """Import the suite, less the files that cannot be, which may happen with other versions than the installed one."""
    if not hasattr(pyverbs.mem_alloc, "madvise"):
        pyverbs.mem_alloc.madvise = madvise
    while True:
        try:
            path = os.path.join(directory, "__init__.py")
            return importlib.machinery.SourceFileLoader("tests", path).load_module()
        except (ImportError, AttributeError) as error:
            culprit = traceback.extract_tb(error.__traceback__)[-1].filename
            if not OTHER_SUITE or not os.path.basename(culprit).startswith("test_"):
                raise
            print(f"# {os.path.basename(culprit)} left out: {error}")
            os.remove(culprit)


def find_netdev():
    """The suite looks for the netdev among the children of a PCI device, which a link of hroce does not have."""
    from tests.base import RDMATestCase

    def get_ip_mac(self, dev, port, idx):
        with open(f"/sys/class/infiniband/{dev}/ports/{port}/gid_attrs/ndevs/{idx}", encoding="ascii") as file:
            self.args.append([dev, port, idx, *self.get_ip_mac_address(file.read().strip())])

    RDMATestCase._get_ip_mac = get_ip_mac


def gid_of(device, index):
    with open(f"/sys/class/infiniband/{device}/ports/1/gids/{index}", encoding="ascii") as file:
        return file.read().strip()


def swap_destinations(gids):
    """The sides of a test take their own address for that of the other: put the other one in its place.

    To be called before the suite is imported.
    """
    other = dict(zip(gids, reversed(gids)))

    class GlobalRoute(pyverbs.addr.GlobalRoute):
        def __init__(self, dgid=None, **kwargs):
            if dgid is not None and dgid.gid in other:
                dgid = pyverbs.addr.GID(other[dgid.gid])
            super().__init__(dgid=dgid, **kwargs)

    pyverbs.addr.GlobalRoute = GlobalRoute


def use_peer(device, peer):
    """Put every other of the sides that a test makes on the other link."""
    from tests.base import BaseResources, RDMATestCase

    set_up = RDMATestCase.setUp
    init = BaseResources.__init__
    links = itertools.cycle((device, peer))

    def first_link(self):
        nonlocal links
        links = itertools.cycle((device, peer))
        set_up(self)

    def next_link(self, dev_name, *args, **kwargs):
        # Who imports the context of another side is that side.
        init(self, dev_name if hasattr(self, "cmd_fd") else next(links), *args, **kwargs)

    RDMATestCase.setUp = first_link
    BaseResources.__init__ = next_link


def flatten(suite):
    for test in suite:
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


class Skips:
    """The list of tests that may skip themselves: a pattern and a reason on each line."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            lines = [line.split(None, 1) for line in file if line.strip() and not line.startswith("#")]
        self.reasons = {pattern: reason.strip() for pattern, reason in lines}

    def reason(self, name):
        for pattern, reason in self.reasons.items():
            if fnmatch.fnmatch(name, pattern):
                return reason
        return None


class Tap(unittest.TestResult):
    """One line for each test."""

    def __init__(self, skips):
        super().__init__()
        self.skips = skips
        self.count = 0
        self.bad = 0

    def line(self, test, good, comment="", skip=""):
        self.count += 1
        self.bad += not good
        for text in comment.splitlines():
            print("# " + text)
        print(f"{'' if good else 'not '}ok {self.count} {name_of(test)}{' # SKIP ' + skip if skip else ''}", flush=True)

    def addSuccess(self, test):
        listed = self.skips.reason(name_of(test))
        self.line(test, not listed, "it ran, but is listed in pyverbs.skips" if listed else "")

    def addSkip(self, test, reason):
        listed = self.skips.reason(name_of(test))
        self.line(test, listed, "" if listed else f"skipped, and not listed in pyverbs.skips: {reason}", listed or "")

    def addFailure(self, test, err):
        self.line(test, False, self._exc_info_to_string(err, test))

    def addError(self, test, err):
        if OTHER_SUITE and issubclass(err[0], AttributeError) and "'pyverbs." in str(err[1]):
            self.line(test, True, skip=f"needs a newer pyverbs: {err[1]}")
        else:
            self.addFailure(test, err)


def main():
    repeated = sys.argv[1:2] == ["-r"]
    if len(sys.argv) < 3 + repeated:
        sys.exit(__doc__)
    device, gid, *patterns = sys.argv[1 + repeated:]
    with tempfile.TemporaryDirectory() as directory:
        directory = os.path.join(directory, "tests")
        unpack(directory)
        device, _, peer = device.partition(",")
        tests = load(directory, device, peer, gid)
        result = Tap(Skips(SKIPS))
        for test in tests:
            if repeated and result.skips.reason(name_of(test)):
                continue
            if wanted(name_of(test), patterns):
                test.run(result)
    print(f"1..{result.count}")
    return 1 if result.bad else 0


if __name__ == "__main__":
    sys.exit(main())
