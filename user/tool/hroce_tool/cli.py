# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The command line."""
import argparse
import errno
import io
import os
import signal
import sys

from . import cc, doctor, link, peer, top, xdp


def port(text):
    if not 0 < int(text) < 1 << 16:
        raise ValueError
    return int(text)


def parser():
    every = argparse.ArgumentParser(prog="hroce", description="Look after the RDMA links of this node; see hroce(8).")
    commands = every.add_subparsers(dest="command", required=True, metavar="COMMAND")
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--json", action="store_true", help="print JSON")

    it = commands.add_parser("doctor", parents=[shared], help="find what is wrong, and say how to repair it")
    it.add_argument("--link", action="append", metavar="LINK", help="look at this link alone; may be repeated")
    it.add_argument("--serve", action="store_true", help="answer the doctors of other nodes, until interrupted")
    it.add_argument("--port", type=port, default=peer.PORT, help="port of the service (default: %(default)s)")
    it.add_argument("peer", nargs="?", metavar="PEER", help="host or address of a node where --serve runs")
    it.set_defaults(run=doctor.main)

    it = commands.add_parser("top", parents=[shared], help="show rates of links and queue pairs")
    it.add_argument("--once", action="store_true", help="one report")
    it.add_argument("--interval", type=float, default=1, metavar="SECONDS", help="time between reports (default: 1)")
    it.set_defaults(run=top.main)

    of_link = commands.add_parser("link", help="make, remove and show links")
    verbs = of_link.add_subparsers(dest="verb", required=True, metavar="VERB")
    it = verbs.add_parser("add", parents=[shared], help="make a link")
    it.add_argument("name")
    it.add_argument("netdev")
    it.set_defaults(run=link.add)
    it = verbs.add_parser("del", parents=[shared], help="remove a link")
    it.add_argument("name")
    it.set_defaults(run=link.delete)
    it = verbs.add_parser("show", parents=[shared], help="show links")
    it.add_argument("name", nargs="?")
    it.set_defaults(run=link.show)
    it = verbs.add_parser("save", parents=[shared], help="make links again when the system starts")
    it.add_argument("name", nargs="?")
    it.set_defaults(run=link.save)

    it = commands.add_parser("xdp", parents=[shared], help="receive without sk_buffs, where the driver has XDP")
    it.add_argument("name", metavar="LINK")
    it.add_argument("switch", nargs="?", choices=("on", "off"), help="without, tell which it is")
    it.set_defaults(run=xdp.main)

    it = commands.add_parser("cc", parents=[shared], help="let a BPF program control congestion")
    it.add_argument("file", nargs="?", metavar="FILE|off", help="object file of the program; without, tell which it is")
    it.set_defaults(run=cc.main)
    return every


def able_to_print():
    """Names may have letters that the locale has not; without standard output, there is nothing to do but the work."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def failed(why):
    """The exit status after an error that no command expects: that of a file, or standard output takes no more."""
    # Or else Python tries again at its end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if why.errno == errno.EPIPE:
        # The reader has seen enough. This is the status of those whom the signal kills.
        return 128 + signal.SIGPIPE
    return link.fail(f"{why.filename or 'standard output'}: {why.strerror}")


def main(words):
    """The exit status: argparse ends with 2 after an error of usage."""
    able_to_print()
    try:
        try:
            options = parser().parse_args(words)
            return options.run(options)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except OSError as why:
        return failed(why)
