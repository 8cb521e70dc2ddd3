# SPDX-License-Identifier: GPL-2.0
"""
What the tests of the command hroce share, in a guest. The checks run in the process of the test, so that Python starts
once; that the command itself prints and returns the same is a case of its own.
"""
import inspect
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOOL = os.path.join(HERE, "../../user/tool/hroce")
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(HERE, "../lib"), os.path.dirname(TOOL)]

from hroce_tool import doctor  # noqa: E402
from hroce_tool.finding import Finding  # noqa: E402
from tap import Tap  # noqa: E402

# Guests are slow when others are busy.
PATIENCE = 20 * float(os.environ.get("HROCE_TIME_SCALE", "1"))


class Failed(Exception):
    """The text says why."""


def sh(command):
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"exit status {done.returncode}: {command}\n{done.stdout}{done.stderr}")
    return done.stdout


def require(true, why):
    if not true:
        raise Failed(why)


def wait_for(condition, why):
    end = time.monotonic() + PATIENCE
    while not condition():
        require(time.monotonic() < end, f"waited in vain for: {why}")
        time.sleep(0.05)


def command(*words):
    """(exit status, standard output, standard error) of the command itself."""
    done = subprocess.run([TOOL, *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def checks_of(identity):
    """Those that have this finding. All of them start a dozen processes."""
    checks = tuple(check for check in doctor.CHECKS if f'"{identity}"' in inspect.getsource(check))
    require(checks, f"no check has the finding {identity}")
    return checks


def findings(checks=doctor.CHECKS):
    before = doctor.CHECKS
    doctor.CHECKS = checks
    try:
        return doctor.local([])[1]
    finally:
        doctor.CHECKS = before


def reported(report):
    """The findings of what the command printed as JSON."""
    return [Finding(**it) for it in report["findings"]]


def listed(found):
    return "\n".join(map(str, found)) or "no finding"


def find(name, found=None):
    """The finding with this id, and it has all that a finding needs."""
    found = findings() if found is None else found
    one = next((it for it in found if it.id == name), None)
    require(one, f"no finding {name}:\n{listed(found)}")
    require(all(one.as_dict().values()) and one.what.endswith(".") and one.why.endswith("."), f"incomplete: {one}")
    return one


def healthy(checks=doctor.CHECKS):
    found = findings(checks)
    require(not found, listed(found))


class Cases(Tap):
    def run(self, name, function, *arguments):
        try:
            function(*arguments)
            self.case(name, True)
        except Failed as why:
            self.case(name, False, why)
        except Exception as error:  # pylint: disable=broad-except
            self.case(name, False, f"{type(error).__name__}: {error}")

    def broken(self, name, identity, breaking, restore="true", by_hand=None, checks=doctor.CHECKS, **words):
        """
        BREAKING is a command for the shell. Then the finding is there, when these CHECKS run; its repair is run, with
        WORDS in place of those in capital letters, or BY_HAND, what a person does for a repair that is none of a
        command. Then it is gone. RESTORE takes away what was made to break it.
        """
        def steps():
            try:
                sh(breaking)
                repaired(find(identity, findings(checks)), by_hand, words)
            finally:
                attempt(restore)
        self.run(f"doctor.{name}", steps)


def attempt(what):
    subprocess.run(["bash", "-c", what], check=False, capture_output=True)


def repaired(finding, by_hand=None, words=None):
    repair = by_hand or finding.repair
    for word, value in (words or {}).items():
        require(word in repair, f"no {word} in: {repair}")
        repair = repair.replace(word, value)
    sh(repair)
    checks = checks_of(finding.id)
    wait_for(lambda: not [it for it in findings(checks) if (it.id, it.subject) == (finding.id, finding.subject)],
             f"{repair} to repair:\n{finding}")


def as_json(*words):
    status, out, _err = command(*words)
    return status, json.loads(out)
