#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""`hroce top`: traffic whose numbers must show, in the report, as JSON and on a terminal."""
import json
import os
import pty
import re
import select
import signal
import subprocess
import time

from lib import HERE, PATIENCE, TOOL, Cases, as_json, attempt, command, require, sh, wait_for

from hroce_tool import peer, rates, top

ADDRESS = "10.77.0.1"
PORT = "18541"
MEASURE = [peer.program() or "hroce-peer", "measure", ADDRESS, PORT]
# No more than the receive requests that the server posts at once, so that none is repeated.
MESSAGES, SIZE = 12, 1 << 18


def link_of(report):
    return next(it for it in report["links"] if it["name"] == "hroce0")


def numbers():
    """All bytes and packets of known traffic are in the report, and its rates are per second."""
    before = rates.take()
    sh(" ".join([*MEASURE, f"send:{SIZE}:{MESSAGES}:0"]))
    after = rates.take()
    report = rates.report(before, after)
    grown = {name: rate * (after.when - before.when) for name, rate in link_of(report)["rates"].items()}
    # The connection takes some datagrams of a few hundred bytes, the verdict 16 bytes.
    for name in ("tx_bytes", "rx_bytes"):
        require(MESSAGES * SIZE <= round(grown[name]) <= MESSAGES * SIZE + 8192, f"{name}: {grown[name]}")
    require(round(grown["tx_packets"]) >= MESSAGES * SIZE / 4096, grown)
    text = top.lines(report)
    require(text[0].split()[:3] == ["LINK", "TX", "MB/s"] and text[1].startswith("hroce0 "), text)
    speed = float(text[1].split()[1])
    require(abs(speed - MESSAGES * SIZE / 1e6 / (after.when - before.when)) < 0.1 * speed + 0.1, text)


class Traffic:
    """Connections one after the other, until the end."""

    def __init__(self, address=ADDRESS, size=65536):
        self.words = [*MEASURE[:2], address, PORT, *[f"send:{size}:256:0"] * 2000]
        self.process = None

    def __enter__(self):
        self.process = subprocess.Popen(self.words, stdout=subprocess.DEVNULL)
        wait_for(lambda: any(it.get("comm") == "hroce-peer" and it.get("state") == "RTS" for it in self.pairs()),
                 "a queue pair")
        return self

    @staticmethod
    def pairs():
        rates.system.forget()
        return rates.queue_pairs()

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def live():
    """The command itself, under traffic: the link moves bytes, and the queue pairs are those of the program."""
    def shown():
        """There is none for a moment between two connections."""
        status, report = as_json("top", "--once", "--json", "--interval", "0.5")
        require(status == 0 and link_of(report)["rates"]["tx_bytes"] > 0 and report["seconds"] >= 0.5, report)
        mine = [it for it in report["queue_pairs"] if it["pid"] == traffic.process.pid]
        return (mine and mine[0]["program"] == "hroce-peer" and mine[0]["type"] == "RC" and
                mine[0]["transport"]["rtt_us"] > 0 and mine[0]["transport"]["window_pkts"] > 0)

    def printed():
        text = command("top", "--once", "--interval", "0.2")[1]
        return re.search(rf"^hroce0/\d+ +RC +RTS +\d+ +{traffic.process.pid} .* \d+ +\d+ +[a-z]+ +hroce-peer$", text,
                         re.M)

    with Traffic() as traffic:
        wait_for(shown, "a queue pair as JSON")
        wait_for(printed, "a queue pair in a line")


def waiting():
    """Frames to another namespace get lost: the link repeats, and so does the queue pair that has a counter."""
    sh("ip netns add far && ip link set peer0 netns far && ip -n far link set peer0 up && "
       "ip -n far address add 10.77.0.2/24 dev peer0 && ping -c 1 -W 10 10.77.0.2 && "
       "ip netns exec far rdma link add hroce1 type hroce netdev peer0 && "
       "tc qdisc add dev eth0 root netem loss 5% && rdma statistic qp set link hroce0/1 auto type on")
    words = ["ip", "netns", "exec", "far", MEASURE[0], "serve", "10.77.0.2", PORT]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as server:
        try:
            server.stdout.readline()
            repeating()
        finally:
            server.kill()
            attempt("tc qdisc del dev eth0 root; rdma statistic qp set link hroce0/1 auto off; rdma link del hroce1; "
                    "ip -n far link set peer0 netns 1; ip netns del far; ip link set peer0 up")


def repeating():
    # As much as the server takes for one connection: a queue pair has rates only if both samples see it.
    with Traffic("10.77.0.2", 262144):
        wait_for(lambda: any("repeats" in wait or "answers" in wait for wait in link_of(sampled())["waits"]),
                 "a link that waits")
        wait_for(lambda: any(pair["rates"].get("retransmits", 0) > 0 and pair["waits"]
                             for pair in sampled()["queue_pairs"]), "a queue pair that waits")


def sampled():
    before = rates.take()
    time.sleep(0.3)
    return rates.report(before, rates.take())


def receive_requests():
    """A server that posts a receive request at a time: peers wait for it."""
    words = ["ib_send_bw", "-d", "hroce0", "-r", "1", "-s", "4096", "-n", "2000", "-F", "-p", "18600"]
    before = rates.take()
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as server:
        wait_for(lambda: "18600" in sh("ss -Hltn"), "the server")
        with subprocess.Popen([*words, ADDRESS], stdout=subprocess.DEVNULL) as client:
            wait_for(lambda: any(rates.transport(it).get("waits_for") == "rnr" for it in Traffic.pairs()),
                     "a queue pair that waits")
            client.wait(PATIENCE * 3)
        server.wait(PATIENCE)
    waits = link_of(rates.report(before, rates.take()))["waits"]
    require(any("receive requests" in wait for wait in waits), waits)


def terminal():
    """The view appears, is drawn again, and q ends it."""
    child, screen = pty.fork()
    if child == 0:
        os.execve(TOOL, [TOOL, "top", "--interval", "0.3"], {**os.environ, "TERM": "linux"})
    seen = b""
    end = time.monotonic() + PATIENCE
    while seen.count(b"hroce0") < 1 and time.monotonic() < end:
        if select.select([screen], [], [], 0.1)[0]:
            seen += os.read(screen, 65536)
    os.write(screen, b"q")
    status = None
    while status is None and time.monotonic() < end + PATIENCE:
        if select.select([screen], [], [], 0.1)[0]:
            try:
                seen += os.read(screen, 65536)
            except OSError:
                pass
        pid, code = os.waitpid(child, os.WNOHANG)
        status = code if pid else None
    if status is None:
        os.kill(child, signal.SIGKILL)
    require(b"LINK" in seen and b"hroce0" in seen and status == 0, f"{status}: {seen[-500:]}")


def usage():
    for words in (("--interval", "0"), ("--interval", "x"), ("nothing",)):
        status = command("top", *words)[0]
        require(status == 2, f"exit status {status}: {words}")


def main():
    cases = Cases()
    with subprocess.Popen([MEASURE[0], "serve", "::", PORT], stdout=subprocess.PIPE) as server:
        server.stdout.readline()
        cases.run("top.numbers", numbers)
        cases.run("top.live", live)
        cases.run("top.waiting", waiting)
        cases.run("top.receive_requests", receive_requests)
        cases.run("top.terminal", terminal)
        cases.run("top.usage", usage)
        server.kill()
    return cases.done()


if __name__ == "__main__":
    raise SystemExit(main())
