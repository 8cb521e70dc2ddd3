# SPDX-License-Identifier: GPL-2.0
"""The near side of tests whose other side is in another machine, where far.py holds it.

The objects that a side consists of are still made by the test and by tests.base, here. But the context of a far side is
one that lives over there, of which there is only a Far here, and so is everything that is made from it: that is the job of
what is put in the place of the classes of pyverbs. What is made from nothing but numbers, such as a work request, may go to
either side: it remembers how it was made, and is made once more over there when something there is given it.

Pyverbs tells some objects by their very type, so no object is of a class of ours: tests are given a Here for each.
"""

import functools
import importlib
import itertools
import multiprocessing
import multiprocessing.connection
import multiprocessing.managers
import time
import weakref

import pyverbs.base
import pyverbs.mem_alloc

import wire

# How long the other machine may take to get there.
CONNECT_SECONDS = 60

MODULES = ("addr", "cmid", "cq", "device", "dmabuf", "flow", "mr", "pd", "qp", "spec", "srq", "wq", "wr", "xrcd")
# Classes of what is made from numbers.
VALUES = (
    "GID", "GRH", "GlobalRoute", "AHAttr", "CqInitAttrEx", "PollCqAttr", "MWBindInfo", "MWBind", "ParentDomainInitAttr", "QPCap",
    "QPInitAttr", "QPInitAttrEx", "QPAttr", "SrqAttr", "SrqInitAttr", "SrqInitAttrEx", "SGE", "RecvWR", "SendWR", "XRCDInitAttr",
)
# Functions of tests.utils that ask over and over: let them do that where the queue is.
POLLS = ("_poll_cq", "poll_cq", "poll_cq_ex")


class Near:
    """The connection to the far side."""

    def __init__(self, host):
        self.host = host
        self.dropped = []
        self.wire = wire.Wire(self.connect(), name_of, self.find)

    def connect(self):
        end = time.monotonic() + CONNECT_SECONDS
        while True:
            try:
                return multiprocessing.connection.Client((self.host, wire.PORT))
            except ConnectionRefusedError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def swap(self, it):
        """Tell something before anything else, and return what is told."""
        self.wire.connection.send(it)
        return self.wire.connection.recv()

    def find(self, _, number, module, name):
        kind = getattr(importlib.import_module(module), name)
        return Far(self, number, kind.original if type(kind) is StandIn else kind)

    def call(self, module, name, /, *args, **kwargs):
        """Call a function, or make an object, over there; without a module, a method of what serves there."""
        dropped = self.dropped.copy()
        del self.dropped[:len(dropped)]
        self.wire.send((dropped, module, name, args, kwargs))
        good, it = self.wire.receive()
        if not good:
            raise it
        return it

    def touch(self, it, name, args, kwargs):
        """Call a method of what is over there."""
        return self.call("__main__", "touch", it, name, args, kwargs)


class Proxy:
    """What tests are given for an object of pyverbs. It says to be of the same class."""

    __slots__ = ("__weakref__",)
    __class__ = property(lambda self: self._kind)

    def __init__(self, **values):
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __getattr__(self, name):
        if callable(getattr(self._kind, name, None)):
            return lambda *args, **kwargs: self._step(name, args, kwargs)
        return self._get(name)

    def __setattr__(self, name, value):
        self._step("__setattr__", (name, value), {})

    def __str__(self):
        return self._step("__str__", (), {})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Far(Proxy):
    """An object of the far side."""

    __slots__ = ("_near", "_number", "_kind")

    def __init__(self, near, number, kind):
        super().__init__(_near=near, _number=number, _kind=kind)
        weakref.finalize(self, near.dropped.append, number).atexit = False

    def _get(self, name):
        it = self._near.call("builtins", "getattr", self, name)
        return Address(it) if name == "buf" else it

    def _step(self, name, args, kwargs):
        return self._near.touch(self, name, args, kwargs)


class Here(Proxy):
    """An object of this side."""

    __slots__ = ("_it",)
    _kind = property(lambda self: type(self._it))

    def _get(self, name):
        return wrap(getattr(self._it, name))

    def _step(self, name, args, kwargs):
        return wrap(getattr(self._it, name)(*unwrap(args), **unwrap(kwargs)))


class Value(Here):
    """Something made from numbers, which may go to either side, with how that was done.

    Once something far has been put into it, it is far.
    """

    __slots__ = ("_made", "_steps", "_far")

    def _get(self, name):
        return getattr(self._far, name) if self._far else super()._get(name)

    def _step(self, name, args, kwargs):
        near = StandIn.near
        if not self._far and (is_far(args) or is_far(kwargs)):
            object.__setattr__(self, "_far", near.call("__main__", "make", *self._made, self._steps))
        if self._far:
            return near.touch(self._far, name, args, kwargs)
        result = super()._step(name, args, kwargs)
        self._steps.append((name, args, kwargs))
        return result


class Address(int):
    """Memory of the far side; where the near one has some for it as well, that is what this number is the address of."""

    far = None


class StandIn(type):
    """The class of what is put in the place of classes of pyverbs: the arguments decide which side an object is made on."""

    near = None

    def __call__(cls, *args, **kwargs):
        if is_far(args) or is_far(kwargs):
            return StandIn.near.call(cls.home, cls.__name__, *args, **kwargs)
        it = cls.original(*unwrap(args), **unwrap(kwargs))
        if cls.__name__ not in VALUES:
            return Here(_it=it)
        return Value(_it=it, _made=(cls.home, cls.__name__, args, kwargs), _steps=[], _far=None)

    def __instancecheck__(cls, it):
        return isinstance(it, cls.original)


def apply(function, it):
    """To an object, or to each in a collection."""
    if type(it) in (list, tuple):
        return type(it)(apply(function, part) for part in it)
    if type(it) is dict:
        return {name: apply(function, part) for name, part in it.items()}
    return function(it)


def wrap(it):
    return apply(lambda part: Here(_it=part) if isinstance(part, pyverbs.base.PyverbsObject) else part, it)


def unwrap(it):
    return apply(lambda part: part._it if issubclass(type(part), Here) else part, it)


def is_far(it):
    """Whether it is far, or holds something that is."""
    if type(it) in (list, tuple):
        return any(map(is_far, it))
    if type(it) is dict:
        return any(map(is_far, it.values()))
    return type(it) is Far or (type(it) is Value and it._far is not None)


def name_of(it):
    """What an object is called on the way to the far side; None if it goes as it is."""
    kind = type(it)
    if kind is Far:
        return "far", it._number
    if kind is Address:
        return "number", int(it) if it.far is None else it.far
    if kind is Value:
        return name_of(it._far) if it._far else ("value", *it._made, it._steps)
    if kind is Here:
        raise TypeError(f"{it._kind} of this side, for the other one")
    return None


def stand_in(near):
    """Put classes and functions in the place of those of pyverbs, before the suite is loaded."""
    StandIn.near = near
    for name in MODULES:
        home = importlib.import_module("pyverbs." + name)
        for kind, original in list(vars(home).items()):
            if isinstance(original, type) and issubclass(original, pyverbs.base.PyverbsObject):
                setattr(home, kind, StandIn(kind, (), {"original": original, "home": home.__name__}))
    for name in ("malloc", "posix_memalign", "mmap"):
        allocate_on_both_sides(near, name)
    for name in ("free", "munmap", "madvise"):
        use_where_it_is(near, name)


def allocate_on_both_sides(near, name):
    original = getattr(pyverbs.mem_alloc, name)

    def allocate(*args, **kwargs):
        address = Address(original(*args, **kwargs))
        address.far = near.call("pyverbs.mem_alloc", name, *args, **kwargs)
        return address

    setattr(pyverbs.mem_alloc, name, allocate)


def use_where_it_is(near, name):
    original = getattr(pyverbs.mem_alloc, name)

    def use(address, *args):
        if type(address) is not Address or address.far is not None:
            original(address, *args)
        if type(address) is Address:
            near.call("pyverbs.mem_alloc", name, address, *args)

    setattr(pyverbs.mem_alloc, name, use)


def share_sides(near, address):
    """Have every other of the sides that a test makes on the far side, once the suite has been loaded."""
    from tests import base, utils

    contexts = base.Context, functools.partial(near.call, "pyverbs.device", "Context")
    sides = itertools.cycle(contexts)
    set_up = base.RDMATestCase.setUp

    def first_side(self):
        nonlocal sides
        sides = itertools.cycle(contexts)
        set_up(self)

    def next_side(self):
        self.ctx = next(sides)(name=self.dev_name)

    base.RDMATestCase.setUp = first_side
    base.BaseResources.create_context = next_side
    base.mp = Players(near, address)
    for name in POLLS:
        poll_where_the_queue_is(near, utils, name)


def poll_where_the_queue_is(near, utils, name):
    original = getattr(utils, name)

    def poll(queue, *args, **kwargs):
        if is_far(queue):
            return near.call("tests.utils", name, queue, *args, **kwargs)
        return original(queue, *args, **kwargs)

    setattr(utils, name, poll)


class Players:
    """In the place of multiprocessing, where a test of rdma_cm takes it from: its active side is a process of the far side.

    What the processes share is kept by one more of ours, which both of them reach by TCP.
    """

    def __init__(self, near, address):
        self.near = near
        multiprocessing.current_process().authkey = wire.KEY
        self.manager = multiprocessing.managers.SyncManager((address, 0), ctx=multiprocessing.get_context("fork"))
        self.manager.start()

    def get_context(self, _):
        return self

    def Barrier(self, parties, timeout):
        return self.manager.Barrier(parties, timeout=timeout)

    def Queue(self):
        return self.manager.Queue()

    def Process(self, target, kwargs):
        if kwargs["passive"]:
            return multiprocessing.get_context("fork").Process(target=target, kwargs=kwargs)
        case = target.__self__
        state = {name: getattr(case, name) for name in ("ip_addr", "syncer", "notifier")}
        return self.near.call("__main__", "player", type(case).__module__, type(case).__name__, target.__name__, state, kwargs)
