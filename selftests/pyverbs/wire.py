# SPDX-License-Identifier: GPL-2.0
"""What the two machines that share a test send each other: pickles, in which objects of pyverbs have names."""

import enum
import io
import pickle

PORT = 18700
# Of the barriers and queues that processes share; it is no secret.
KEY = b"hroce"


class Wire:
    """One end of a connection.

    What stands for an object is decided by its owner: name(object) returns a tuple, or None for what can be pickled, and
    find(*tuple) at the other end returns what stands for it there.
    """

    def __init__(self, connection, name, find):
        self.connection = connection
        self.name = name
        self.find = find

    def persistent_id(self, it):
        # Those of pyverbs are of classes that nobody can look up.
        return ("number", int(it)) if isinstance(it, enum.Enum) else self.name(it)

    def persistent_load(self, name):
        kind, *values = name
        return values[0] if kind == "number" else self.find(kind, *values)

    def send(self, it):
        data = io.BytesIO()
        pickler = pickle.Pickler(data)
        pickler.persistent_id = self.persistent_id
        pickler.dump(it)
        self.connection.send_bytes(data.getbuffer())

    def receive(self):
        unpickler = pickle.Unpickler(io.BytesIO(self.connection.recv_bytes()))
        unpickler.persistent_load = self.persistent_load
        return unpickler.load()
