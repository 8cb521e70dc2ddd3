#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Run a program, and fail if hroce allocates something meanwhile that no memory cgroup pays for.

usage: charged.py PROGRAM [ARGUMENT]...

Whoever it is that allocates, a process or a softirq: the kernel's trace events of its allocators tell by which function,
and whether the allocation is charged. An allocation is one of hroce if that function is, or if all between it and the
allocator belong to an xarray. Exit status 4: the kernel cannot tell.
"""

import collections
import re
import subprocess
import sys

TRACING = "/sys/kernel/tracing"
EVENTS = ("kmalloc", "kmem_cache_alloc")
SECONDS = 200

# Frames of the stack that are the tracer's, the allocator's and the xarray's.
INNER = re.compile(r"(save_stack_trace|stack_trace_save|_*ftrace_trace_stack|trace_(buffer|event)_|__traceiter_"
                   r"|perf_|_*kmem_cache_alloc|_*kmalloc|_*kzalloc|_*kvmalloc|_*kv?calloc|_*do_kmalloc"
                   r"|_*xas?_|radix_tree_node_alloc)")


class CannotTell(Exception):
    """This kernel has no such events, or no memory cgroups."""


def put(path, text):
    """Write to a file of the tracer."""
    try:
        with open(f"{TRACING}/{path}", "w", encoding="ascii") as file:
            file.write(text)
    except FileNotFoundError as err:
        raise CannotTell(f"no {path}") from err


def switch(value):
    """Begin to trace, or end."""
    for event in EVENTS:
        put(f"events/kmem/{event}/enable", value)


def lost():
    """Return how many events the buffer had no place for."""
    with open(f"{TRACING}/per_cpu/cpu0/stats", encoding="ascii") as file:
        return int(re.search(r"^overrun: (\d+)", file.read(), re.M)[1])


def allocations(lines):
    """Yield the event and the stack of each allocation, from the inside."""
    event, stack = None, []
    for line in lines:
        if line.startswith(" => "):
            stack.append(line[4:].split()[0])
            continue
        if event and stack:
            yield event, stack
        if "call_site=" in line:
            event, stack = line, []
    if event and stack:
        yield event, stack


def functions():
    """Return the names of hroce's: not all machines name the module in a stack."""
    with open("/proc/kallsyms", encoding="ascii") as file:
        return {line.split()[2] for line in file if line.rstrip().endswith("[hroce]")}


def culprit(stack, ours):
    """Return the chain from the innermost function of hroce outwards; None if the allocation is not one of hroce."""
    for depth, name in enumerate(stack):
        if name in ours:
            return " < ".join(stack[depth:depth + 4])
        if not INNER.match(name):
            return None
    return None


def judge():
    """Return how many allocations of hroce were charged, and the chains of those that were not."""
    charged, free, ours = 0, collections.Counter(), functions()
    with open(f"{TRACING}/trace", encoding="ascii", errors="replace") as file:
        for event, stack in allocations(file):
            chain = culprit(stack, ours)
            if not chain:
                continue
            if "accounted=true" in event:
                charged += 1
            else:
                free[chain] += 1
    return charged, free


def main(argv):
    """Return the exit status."""
    subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACING], stderr=subprocess.DEVNULL, check=False)
    with open("/proc/cgroups", encoding="ascii") as file:
        if "memory" not in file.read():
            raise CannotTell("no memory cgroups")
    put("buffer_size_kb", "32768")
    put("options/stacktrace", "1")
    put("trace", "")
    switch("1")
    try:
        result = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS,
                                check=False)
    finally:
        switch("0")
    if result.returncode:
        print(result.stdout)
        return 1
    charged, free = judge()
    print(f"{charged} charged, {lost()} events lost")
    for chain, number in free.most_common():
        print(f"{number} not charged: {chain}")
    put("trace", "")
    return int(bool(free or lost() or not charged))


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except CannotTell as err:
        print(err)
        sys.exit(4)
