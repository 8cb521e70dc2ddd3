#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Make the methods of a Host available to another guest: agent.py PORT serves one connection and ends with it."""

import json
import socket
import sys
import time

import host

CONNECT_SECONDS = 30


class RemoteHost:
    """The Host at the other end of a connection."""

    def __init__(self, address, port):
        end = time.monotonic() + CONNECT_SECONDS
        while True:
            try:
                self.stream = socket.create_connection((address, port), timeout=120).makefile("rw", encoding="utf-8")
                return
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def __getattr__(self, method):
        def call(*args, **named):
            print(json.dumps([method, args, named]), file=self.stream, flush=True)
            answer = json.loads(self.stream.readline())
            if "failed" in answer:
                raise host.Failed(answer["failed"])
            return answer["result"]
        return call


def serve(stream):
    here = host.Host()
    for line in stream:
        method, args, named = json.loads(line)
        try:
            answer = {"result": getattr(here, method)(*args, **named)}
        except (host.Failed, OSError, ValueError) as error:
            answer = {"failed": str(error)}
        print(json.dumps(answer), file=stream, flush=True)
    here.finish()


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: agent.py PORT")
    with socket.create_server(("0.0.0.0", int(sys.argv[1]))) as listener:
        connection, _ = listener.accept()
    with connection.makefile("rw", encoding="utf-8") as stream:
        serve(stream)


if __name__ == "__main__":
    main()
