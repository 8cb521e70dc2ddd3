# SPDX-License-Identifier: GPL-2.0
"""CPU time spent while something runs that does not tell itself."""

import threading
import time

INTERVAL = 0.1
# The kernel counts in ticks of some milliseconds: fewer seconds than these say nothing.
SHORTEST = 0.3


class CpuTime:
    """Samples a host's CPU times from a thread, as what is measured lasts only for a part of a program's time."""

    def __init__(self, host):
        self.host = host
        self.samples = []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.sample)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def sample(self):
        while not self.ended.is_set():
            self.samples.append((time.monotonic(), *self.host.cpu_times()))
            self.ended.wait(INTERVAL)

    def share(self, seconds):
        """CPUs busy, and CPUs busy in the kernel, in the middle of the last seconds; None if that is too short."""
        end = self.samples[-1][0]
        window = [sample for sample in self.samples if end - 0.85 * seconds <= sample[0] <= end - 0.1 * seconds]
        if len(window) < 2 or window[-1][0] - window[0][0] < SHORTEST:
            return None
        length, busy, kernel = (last - first for first, last in zip(window[0], window[-1]))
        return busy / length, kernel / length
