#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""`hroce doctor PEER` on two machines, of which the second has another time."""
import json
import os
import subprocess

from lib import TOOL, Cases, command, find, listed, reported, require, sh

PEER = "10.77.0.2"
SECONDS = 90


def barrier(name):
    sh(f"vm-barrier clock.{name} 120")


def found():
    return reported(json.loads(command("doctor", "--json", PEER)[1]))


def serve():
    with subprocess.Popen([TOOL, "doctor", "--serve"], stdout=subprocess.PIPE, text=True) as service:
        require("serving" in service.stdout.readline(), "the service does not start")
        sh(f"date -s '+{SECONDS} seconds'")
        barrier("wrong")
        barrier("seen")
        sh(f"date -s '-{SECONDS} seconds'")
        barrier("right")
        barrier("done")
        service.terminate()


def differ():
    barrier("wrong")
    try:
        one = find("peer-clock", found())
        require(f" {SECONDS} s" in one.what and one.repair.count("timesyncd") == 2, one)
    finally:
        barrier("seen")
        barrier("right")
    try:
        require(not any(it.id == "peer-clock" for it in found()), listed(found()))
    finally:
        barrier("done")


def main():
    cases = Cases()
    cases.run("peer.clock", differ if os.uname().nodename == "node1" else serve)
    return cases.done()


if __name__ == "__main__":
    raise SystemExit(main())
