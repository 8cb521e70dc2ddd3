# SPDX-License-Identifier: GPL-2.0
"""A machine to run programs on: this guest, or another one by way of agent.py.

Arguments and results of all public methods are plain values, so that they can travel.
"""

import os
import re
import signal
import subprocess
import time

READY_SECONDS = 20
END_SECONDS = 3


class Failed(Exception):
    """An attempt to measure did not give a number."""


class TimedOut(Failed):
    """A program was not done in time."""


def wait_for(condition, seconds=READY_SECONDS):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip(" -")]
    return lines[-1] if lines else "no output"


def inside(netns, words):
    return ["ip", "netns", "exec", netns, *words] if netns else list(words)


class Host:
    """This guest."""

    def __init__(self):
        self.servers = []

    @staticmethod
    def call(words, netns=None):
        """Run a command that has to succeed."""
        done = subprocess.run(inside(netns, words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            raise Failed(f"{' '.join(words)}: status {done.returncode}: {last_line(done.stdout)}")
        return done.stdout

    @staticmethod
    def output(words, netns=None):
        """What a command prints, whether it succeeds or not."""
        return subprocess.run(inside(netns, words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False).stdout

    @staticmethod
    def run(words, netns, seconds):
        """Run a program that has to be done in time. Return what it prints."""
        try:
            done = subprocess.run(inside(netns, words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            raise TimedOut(f"client not done after {seconds} s") from None
        if done.returncode:
            raise Failed(f"client: status {done.returncode}: {last_line(done.stdout)}")
        return done.stdout

    def start(self, words, netns, port, udp=False):
        """Start a program that goes on until finish(), and wait until it listens, if it has a port."""
        # In a session of its own, so that nothing survives it.
        server = subprocess.Popen(inside(netns, words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, start_new_session=True)
        self.servers.append(server)
        if not port:
            return
        if not wait_for(lambda: server.poll() is not None or self.listens(server.pid, port, udp)):
            raise Failed("server not ready")
        if server.poll() is not None:
            raise Failed("server: " + last_line(server.stdout.read()))

    @staticmethod
    def listens(pid, port, udp):
        wanted = re.compile(rf":{port:04X} \S+ {'07' if udp else '0A'} ")
        for table in ("udp", "udp6") if udp else ("tcp", "tcp6"):
            try:
                with open(f"/proc/{pid}/net/{table}", encoding="ascii") as file:
                    if wanted.search(file.read()):
                        return True
            except OSError:
                pass
        return False

    def finish(self):
        """End all servers, with force where they do not end themselves."""
        end = time.monotonic() + END_SECONDS
        for server in self.servers:
            try:
                server.wait(timeout=max(end - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                os.killpg(server.pid, signal.SIGKILL)
                server.wait()
            server.stdout.close()
        self.servers = []

    @staticmethod
    def exists(path):
        return os.path.exists(path)

    @staticmethod
    def write(path, text):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)

    @staticmethod
    def cpu_times():
        """Seconds so far that CPUs were busy, and those of them that were spent in the kernel."""
        with open("/proc/stat", encoding="ascii") as file:
            user, nice, system, _idle, _iowait, irq, softirq = map(int, file.readline().split()[1:8])
        ticks = os.sysconf("SC_CLK_TCK")
        kernel = system + irq + softirq
        return [(user + nice + kernel) / ticks, kernel / ticks]
