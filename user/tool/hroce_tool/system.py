# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Files of /sys and /proc, and commands, read without an exception where one is missing."""
import json
import os
import subprocess

INFINIBAND = "/sys/class/infiniband"
# Commands live there, whatever the PATH of an ordinary user has.
SBIN = ":/usr/local/sbin:/usr/sbin:/sbin"
COMMAND_SECONDS = 60


def environment():
    inherited = dict(os.environ)
    return {**inherited, "PATH": inherited.get("PATH", "/usr/bin:/bin") + SBIN, "LC_ALL": "C"}


def read(path, default=None):
    """The text of a file without the newline at its end."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().rstrip("\n")
    except OSError:
        return default


def read_int(path, default=None):
    try:
        return int(read(path, ""), 0)
    except ValueError:
        return default


def printable(text):
    """Without what a terminal would obey."""
    return "".join(it if it.isprintable() else f"\\x{ord(it):02x}" for it in text)


def names(directory):
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


class Result:
    """What a command printed. STATUS is None if it does not exist or did not end."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    @property
    def ok(self):
        return self.status == 0


def run(*words, text=None):
    try:
        done = subprocess.run(words, input=text, capture_output=True, env=environment(), encoding="utf-8",
                              errors="replace", timeout=COMMAND_SECONDS, check=False,
                              stdin=None if text is not None else subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Result(None, "", str(error))
    return Result(done.returncode, done.stdout, done.stderr.strip())


# What was found since forget().
known = {}


def forget():
    """The system may have changed."""
    known.clear()


def remembered(key, function):
    """What the function returns, once until forget(): a report takes each picture of the system once."""
    if key not in known:
        known[key] = function()
    return known[key]


def once(*words):
    return remembered(words, lambda: run(*words))


def parsed(done):
    """
    What the command printed as JSON; None if it failed or printed something else. iproute2 prints control characters in
    names as they are.
    """
    if not done.ok:
        return None
    try:
        return json.loads(done.out or "[]", strict=False)
    except ValueError:
        return None


def once_json(*words):
    return parsed(once(*words))


def release():
    return os.uname().release


def module_loaded(name):
    return os.path.isdir(f"/sys/module/{name}")
