# SPDX-License-Identifier: GPL-2.0
"""The test suite of rdma-core: where it is, and how it is made to take a link of hroce."""

import ctypes
import fnmatch
import glob
import gzip
import importlib
import importlib.machinery
import ipaddress
import os
import shutil
import sys
import traceback

import pyverbs.addr
import pyverbs.mem_alloc

OTHER_SUITE = os.environ.get("PYVERBS_SUITE")
SUITE = OTHER_SUITE or "/usr/share/doc/rdma-core/tests"
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


def load(directory, device, gid):
    """Import the suite from a new directory, set up for one device."""
    unpack(directory)
    sys.path.insert(0, directory)
    from args_parser import parser
    sys.argv[1:] = ["--dev", device, "--gid", gid]
    parser.parse_args()
    package = load_package(directory)
    find_netdev()
    return package


def madvise(address, length, advice=4):
    """Versions from 46 on expect it in pyverbs.mem_alloc; later ones mean MADV_DONTNEED without saying so."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.madvise(ctypes.c_void_p(address), ctypes.c_size_t(length), advice):
        raise OSError(ctypes.get_errno(), "madvise")


if not hasattr(pyverbs.mem_alloc, "madvise"):
    pyverbs.mem_alloc.madvise = madvise


def load_package(directory):
    """Import the suite, less the files that cannot be, which may happen with other versions than the installed one."""
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


def address_of(gid):
    """The IPv4 address of a GID."""
    return str(ipaddress.IPv6Address(gid).ipv4_mapped)


def counter(device, name):
    with open(f"/sys/class/infiniband/{device}/ports/1/hw_counters/{name}", encoding="ascii") as file:
        return int(file.read())


def frames(device):
    """How many frames have left a link."""
    return counter(device, "tx_frames")


def swap_destinations(gids):
    """The sides of a test take their own address for that of the other: put the other one in its place.

    To be called before the suite is loaded, and before other classes are replaced.
    """
    # Its modules want to find each other's classes as they are.
    for path in glob.glob("**/*.so", root_dir=pyverbs.__path__[0], recursive=True):
        importlib.import_module("pyverbs." + path.split(".")[0].replace("/", "."))
    other = {gid: pyverbs.addr.GID(value) for gid, value in zip(gids, reversed(gids))}

    class GlobalRoute(pyverbs.addr.GlobalRoute):
        def __init__(self, dgid=None, **kwargs):
            if dgid is not None:
                dgid = other.get(dgid.gid, dgid)
            super().__init__(dgid=dgid, **kwargs)

    pyverbs.addr.GlobalRoute = GlobalRoute
