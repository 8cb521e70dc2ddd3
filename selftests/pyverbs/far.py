#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Hold the far side of the tests that run.py -p runs in another machine, and do what they ask for, until they are done.

usage: far.py DEVICE GID-INDEX
"""

import importlib
import itertools
import multiprocessing
import multiprocessing.connection
import os
import sys
import tempfile

import pyverbs.base
import pyverbs.cmid
import pyverbs.device
import pyverbs.xrcd

import suite
import wire


def touch(it, name, args, kwargs):
    """Call a method."""
    return getattr(it, name)(*args, **kwargs)


def make(module, name, args, kwargs, steps):
    """Make an object, and do with it what has been done with the one it is to be the same as."""
    it = getattr(importlib.import_module(module), name)(*args, **kwargs)
    for step, step_args, step_kwargs in steps:
        touch(it, step, step_args, step_kwargs)
    return it


def player(module, case, flow, state, kwargs):
    """A process, not yet started, that is one side of a test of rdma_cm: a method of a test case with that state."""
    it = object.__new__(getattr(importlib.import_module(module), case))
    it.__dict__.update(state)
    return multiprocessing.get_context("fork").Process(target=getattr(it, flow), kwargs=kwargs)


class Far:
    """The objects that exist for the near side, by number."""

    def __init__(self, connection):
        self.objects = {}
        self.numbers = itertools.count()
        self.wire = wire.Wire(connection, self.name, self.find)

    def name(self, it):
        if not isinstance(it, (pyverbs.base.PyverbsObject, multiprocessing.process.BaseProcess)):
            return None
        number = next(self.numbers)
        self.objects[number] = it
        # Not a class of ours that is derived from one of theirs.
        known = next(kind for kind in type(it).__mro__ if kind.__module__.startswith(("pyverbs.", "multiprocessing.")))
        return "far", number, known.__module__, known.__name__

    def find(self, kind, *values):
        return self.objects[values[0]] if kind == "far" else make(*values)

    def close(self):
        """Forget all objects, which go in good order where their context is closed."""
        for it in self.objects.values():
            if isinstance(it, pyverbs.device.Context):
                it.close()
        self.objects.clear()

    def serve(self):
        while True:
            try:
                dropped, module, name, args, kwargs = self.wire.receive()
            except EOFError:
                return
            for number in dropped:
                self.objects.pop(number, None)
            try:
                place = importlib.import_module(module) if module else self
                reply = True, getattr(place, name)(*args, **kwargs)
            except Exception as error:  # pylint: disable=broad-exception-caught
                # Its frames hold on to objects.
                reply = False, error.with_traceback(None)
            self.wire.send(reply)
            del args, kwargs, reply


def stand_in_for(own, other):
    """Let tests find what they take for granted where both sides are in one place; own and other are addresses."""

    class AddrInfo(pyverbs.cmid.AddrInfo):
        """Both sides are told the address of the near one: the one to come from is ours."""

        def __init__(self, src=None, dst=None, **kwargs):
            super().__init__(src=own if src == other else src, dst=dst, **kwargs)

    class XRCDInitAttr(pyverbs.xrcd.XRCDInitAttr):
        """A file of ours instead of one of the near side."""

        def __init__(self, comp_mask, oflags, fd):
            # pylint: disable-next=consider-using-with
            self.file = tempfile.TemporaryFile() if fd >= 0 else None
            super().__init__(comp_mask, oflags, self.file.fileno() if self.file else fd)

    pyverbs.cmid.AddrInfo = AddrInfo
    pyverbs.xrcd.XRCDInitAttr = XRCDInitAttr


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    device, gid = sys.argv[1:]
    with multiprocessing.connection.Listener(("", wire.PORT)) as listener:
        with listener.accept() as connection, tempfile.TemporaryDirectory() as directory:
            own = suite.gid_of(device, gid)
            connection.send(own)
            other = connection.recv()
            multiprocessing.current_process().authkey = wire.KEY
            suite.swap_destinations((own, other))
            stand_in_for(suite.address_of(own), suite.address_of(other))
            suite.load(os.path.join(directory, "tests"), device, gid)
            Far(connection).serve()


if __name__ == "__main__":
    main()
