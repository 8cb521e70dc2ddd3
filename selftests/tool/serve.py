#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
`hroce doctor --serve` and clients that it does not trust: several at a time, silent ones, slow ones, and such as ask for
more than there is; and the doctor with a service that it does not trust. Those of rdma_cm are hroce-peer, and another one with other limits (selftests/tool/prepare).
"""
import json
import signal
import socket
import subprocess
import sys
import threading
import time

from lib import HERE, PATIENCE, TOOL, Cases, as_json, find, reported, require, sh, wait_for

from hroce_tool import peer

ADDRESS, PORT = "10.77.0.1", 18542
PEER = peer.program() or "hroce-peer"
FAULTY = f"{HERE}/../../build/selftests-tool/faulty/hroce-peer"
SMALL, LARGE = "send:4096:4:0", "send:4194304:16:0"
# The service with other limits of time.
LIMITED = ("import sys; sys.path.insert(0, sys.argv[1]); from hroce_tool import peer; "
           "peer.IDLE_SECONDS, peer.CLIENT_SECONDS = map(float, sys.argv[2:4]); peer.serve(int(sys.argv[4]))")


class Service:
    def __init__(self, idle=None, longest=None):
        self.words = [TOOL, "doctor", "--serve", "--port", str(PORT)]
        if idle:
            self.words = [sys.executable, "-B", "-c", LIMITED, f"{HERE}/../../user/tool", str(idle), str(longest), str(PORT)]
        self.process = None

    def __enter__(self):
        self.process = subprocess.Popen(self.words, stdout=subprocess.PIPE)
        require(b"serving" in self.process.stdout.readline(), "the service does not start")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def status(self, name, child=False):
        """A number in /proc/PID/status, of the service or of hroce-peer."""
        pid = sh(f"pgrep -P {self.process.pid}").strip() if child else self.process.pid
        return int(sh(f"sed -n 's/^{name}:\\s*//p' /proc/{pid}/status").split()[0])


def talk():
    return socket.create_connection((ADDRESS, PORT), timeout=PATIENCE)


def closed(connection, every=None):
    """Wait until the service closes it; meanwhile send EVERY, without waiting for the answers."""
    end = time.monotonic() + PATIENCE
    connection.settimeout(0.2)
    while time.monotonic() < end:
        try:
            if every:
                connection.sendall(every)
            if not connection.recv(1 << 16):
                return True
        except socket.timeout:
            pass
        except OSError:
            return True
    return False


def measure(order, program=PEER):
    """The status of each size."""
    done = subprocess.run([program, "measure", ADDRESS, str(PORT), order], capture_output=True, text=True, check=False)
    return {line.split(" ", 6)[6] for line in done.stdout.splitlines()}


def one_at_a_time():
    """The second one is told so, and is served when the first one has left."""
    with Service():
        first = peer.Peer(ADDRESS, PORT)
        require(first.state()["link"] == "hroce0", "no state")
        status, report = as_json("doctor", "--json", "--port", str(PORT), ADDRESS)
        one = find("peer-busy", reported(report))
        require(status == 1 and f"--port {PORT}" in one.repair, report)
        first.state()
        first.close()
        second = peer.Peer(ADDRESS, PORT)
        require(second.state()["link"] == "hroce0", "no state")
        second.close()


def crowd():
    """Hundreds of clients, and neither threads nor memory of the service grow."""
    with Service() as service:
        with talk() as first:
            first.sendall(b"state\n")
            require(json.loads(first.makefile().readline())["link"] == "hroce0", "no state")
            before = service.status("VmRSS")
            others = [talk() for _ in range(100)]
            answers = [json.loads(it.makefile().readline()) for it in others]
            require(all(it.get("busy") for it in answers), answers)
            require(service.status("Threads") == 1, "threads")
            require(service.status("VmRSS") < before + 4096, f"{before} kB, now {service.status('VmRSS')} kB")
            for it in others:
                it.close()


def silent():
    with Service(1, 600):
        with talk() as connection:
            require(closed(connection), "a silent client stays")
        with talk() as connection:
            require(closed(connection, b"s"), "a client stays that sends a line byte by byte")
        peer.Peer(ADDRESS, PORT).state()


def long_line():
    with Service():
        with talk() as connection:
            connection.sendall(b"x" * 200)
            require(closed(connection), "a client stays that sends a line without end")
        peer.Peer(ADDRESS, PORT).state()


def stays():
    """A client that never ends."""
    with Service(600, 1):
        with talk() as connection:
            require(closed(connection, b"state\n"), "it stays")
        peer.Peer(ADDRESS, PORT).state()


def connected(pid):
    return sh(f"rdma resource show qp pid {pid} state RTS 2>&1 || true").strip()


def stopped():
    """A client that has connected, and was stopped."""
    client = subprocess.Popen([PEER, "measure", ADDRESS, str(PORT), *[LARGE] * 100], stdout=subprocess.DEVNULL)

    def caught():
        client.send_signal(signal.SIGSTOP)
        if connected(client.pid):
            return True
        client.send_signal(signal.SIGCONT)
        return False

    wait_for(caught, "a connection")
    return client


def stalled():
    """It does not stop others for long; until then they are told."""
    with Service():
        client = stopped()
        try:
            # This one does not wait.
            require(measure(SMALL, FAULTY) == {"busy"}, "not busy")
            require(measure(SMALL) == {"ok"}, "still busy")
        finally:
            client.kill()
            client.wait()
        require(measure(SMALL) == {"ok"}, "not served")


def too_much():
    """Orders of as much memory as allowed, and of more."""
    with Service() as service:
        require(measure(LARGE) == {"ok"}, "the largest order is refused")
        peak = service.status("VmHWM", child=True)
        require(peak > 64 << 10, f"{peak} kB are less than the order")
        require(measure("send:4194304:40:0", FAULTY) == {"connect"}, "accepted")
        require(service.status("VmHWM", child=True) < peak + 4096, "the service has taken the memory")
        require(measure(SMALL) == {"ok"}, "not served")


def told(answer):
    """What the doctor finds if the service answers this."""
    with socket.create_server((ADDRESS, PORT)) as listener:
        def serve():
            with listener.accept()[0] as connection:
                connection.recv(64)
                connection.sendall(answer + b"\n")
                connection.recv(64)

        server = threading.Thread(target=serve)
        server.start()
        _status, report = as_json("doctor", "--json", "--port", str(PORT), ADDRESS)
        server.join()
    return find("peer-unreachable", reported(report))


def lies():
    """A service that says anything; what it says does not get into commands that somebody copies."""
    good = {"version": peer.VERSION, "link": "hroce0", "netdev": "eth0", "queue": "fq", "address": ADDRESS, "mtu": 1500,
            "time": 1.5, "counters": {"tx_packets": 1}}
    require(peer.understood(json.dumps(good)) == good, "the good one is refused")
    wrong = ({"netdev": "eth0; reboot"}, {"netdev": None}, {"queue": "\x1b[2J"}, {"mtu": "1500"}, {"time": None},
             {"counters": [1]}, {"counters": {"tx_packets": "1"}}, {"version": 0}, {"link": ["hroce0"]})
    for answer in (json.dumps(good).replace("1.5", "1e400").encode(), b"", b"[]", b"7", b"{", b"[" * 60000, b"\xff", *(json.dumps(good | it).encode() for it in wrong)):
        told(answer)


def main():
    cases = Cases()
    for case in (one_at_a_time, crowd, silent, long_line, stays, stalled, too_much, lies):
        cases.run(f"serve.{case.__name__}", case)
    return cases.done()


if __name__ == "__main__":
    raise SystemExit(main())
