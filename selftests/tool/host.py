#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
What the command hroce does with names and answers that somebody has made to harm, on the host: no guest, no link. The
system is a directory, and commands are scripts that come first in the PATH.
"""
import contextlib
import errno
import io
import ipaddress
import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import tempfile
import time
from unittest import mock

from lib import HERE, PATIENCE, TOOL, Cases, Failed, find, listed, reported, require, wait_for
from lib import command as run_command

from hroce_tool import cc, cli, device, doctor, link, packages, peer, system, xdp
from hroce_tool.checks import (addresses, commands, drops, firewall, gids, library, memlock, module, mtu, offloads,
                               pause, port, priority, rings)
from hroce_tool.finding import command, error
from hroce_tool.netdev import Netdev

SCRIPT = os.path.realpath(f"{HERE}/../../user/systemd/hroce-link")
METRICS = os.path.realpath(f"{HERE}/../../Documentation/monitoring/hroce-metrics")
COMPLETION = os.path.realpath(f"{HERE}/../../user/tool/completion")
ESCAPED, ESCAPE = "\\u001b", "\x1b"
EVIL = "$(touch PWN)"
LISTS = f"""
find() {{
	case $1 in
	*infiniband*) printf '/sys/class/infiniband/%s/offload\\n' {shlex.quote(EVIL)} 'hroce0' ;;
	*) printf '%s\\n' {shlex.quote(EVIL)} '`touch PWN`' 'eth0' ;;
	esac
}}
"""


def completed(directory, *words):
    """What is offered for the last of WORDS, in a directory."""
    script = (f"source {COMPLETION}; {LISTS}\nCOMP_WORDS=(hroce \"$@\"); COMP_CWORD=$#; _hroce; "
              "printf '%s\\n' \"${COMPREPLY[@]}\"")
    done = subprocess.run(["bash", "-c", script, "bash", *words], cwd=directory, capture_output=True, text=True,
                          check=False)
    require(not os.path.exists(f"{directory}/PWN"), f"a name was run: hroce {' '.join(words)}")
    require(not done.stderr, done.stderr)
    return done.stdout.splitlines()


def completion_names():
    with tempfile.TemporaryDirectory() as directory:
        for name in (EVIL, "`touch PWN`", "control.o"):
            with open(f"{directory}/{name}", "wb"):
                pass
        quoted = EVIL.replace("$", "\\$").replace("(", "\\(").replace(")", "\\)").replace(" ", "\\ ")
        require(set(completed(directory, "cc", "")) == {EVIL, "`touch PWN`", "control.o", "off", "--json"}, "cc")
        require(completed(directory, "cc", "con") == ["control.o"], "cc con")
        for words, offered in ((("doctor", "--link", ""), [quoted, "hroce0"]),
                               (("xdp", ""), [quoted, "hroce0"]),
                               (("link", "del", ""), ["--json", quoted, "hroce0"]),
                               (("link", "del", "$"), [quoted]),
                               (("link", "del", "\\$"), [quoted]),
                               (("link", "add", "x", "e"), ["eth0"]),
                               (("link", "add", "x", ""), [quoted, r"\`touch\ PWN\`", "eth0"]),
                               (("d",), ["doctor"])):
            require(completed(directory, *words) == offered, (words, completed(directory, *words)))


def completion_typed():
    """On a terminal: TAB completes the name of a file, and the command gets it as it is."""
    with tempfile.TemporaryDirectory() as directory:
        with open(f"{directory}/{EVIL}", "wb"):
            pass
        child, screen = pty.fork()
        if child == 0:
            os.chdir(directory)
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
        try:
            os.write(screen, f"hroce() {{ printf '%s\\n' \"$2\" >args.new; mv args.new args; }}; source {COMPLETION}; "
                             "echo re''ady\n".encode())
            seen = b""
            end = time.monotonic() + PATIENCE
            while b"ready" not in seen and time.monotonic() < end:
                if select.select([screen], [], [], 0.1)[0]:
                    seen += os.read(screen, 65536)
            os.write(screen, b"hroce cc $\t\n")
            wait_for(lambda: os.path.exists(f"{directory}/args"), "the command")
        finally:
            os.close(screen)
            os.waitpid(child, 0)
        require(not os.path.exists(f"{directory}/PWN"), "a name was run")
        with open(f"{directory}/args", encoding="utf-8") as file:
            got = file.read()
        require(got == EVIL + "\n", got)


class System:
    """A node with these links, {name: files below its directory}, and commands, {name: what its script does}."""

    def __init__(self, links, **commands):
        self.links, self.commands = links, commands
        self.before = system.INFINIBAND, dict(os.environ)
        self.directory = tempfile.TemporaryDirectory()

    def write(self, path, text):
        path = f"{self.directory.name}/{path}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def __enter__(self):
        system.INFINIBAND = f"{self.directory.name}/links"
        os.environ.update(PATH=f"{self.directory.name}/bin:{self.before[1]['PATH']}")
        for name, files in self.links.items():
            for path, text in {"offload/mode": "software", "ports/1/state": "4: ACTIVE", **files}.items():
                self.write(f"links/{name}/{path}", f"{text}\n")
        for name, script in self.commands.items():
            self.write(f"bin/{name}", f"#!/bin/bash\n{script}\n")
        system.forget()
        return self

    def __exit__(self, *_):
        system.INFINIBAND = self.before[0]
        os.environ.update(PATH=self.before[1]["PATH"])
        self.directory.cleanup()
        system.forget()


def prints(what):
    """A script that prints WHAT as iproute2 does: control characters as they are."""
    return f"printf %s {shlex.quote(json.dumps(what).replace(ESCAPED, ESCAPE))}"


def shown(**links):
    """What rdma prints of links, {name: netdev}."""
    return prints([{"ifindex": 0, "ifname": name, "port": 1, "netdev": netdev} for name, netdev in links.items()])


def own_netdev():
    """The module tells the netdev of a link; of older modules, rdma does."""
    links = {"own": {"offload/netdev": "eth0.5"}, "far": {"offload/netdev": ""}, "old": {}}
    with System(links, rdma=shown(own="eth0", far="eth0", old="eth1")):
        netdevs = {it.name: it.netdev() and it.netdev().name for it in device.links()}
        require(netdevs == {"own": "eth0.5", "far": None, "old": "eth1"}, netdevs)
        own = device.Device("own")
        require([it.name for it in own.netdevs()] == ["eth0.5"], own.netdevs())
        require([it.name for it in own.netdevs_below()] == ["eth0.5", "eth0"], own.netdevs_below())


def forged_process():
    """The name of the process that has the port looks like another process, or like the end of a line about one."""
    for name, printed in (('a",pid=1', 'a",pid=1'), ('",pid=1,fd=2\n\x1b', '",pid=1,fd=2\\x0a\\x1b')):
        code = f"ctypes.CDLL(None).prctl(15, {name.encode()!r}); print(flush=True); time.sleep(600)"
        child = subprocess.Popen(["python3", "-c", f"import ctypes, time; {code}"], stdout=subprocess.PIPE)
        child.stdout.readline()
        said = f'UNCONN 0 0 *:4791 *:* users:(("{name}",pid={child.pid},fd=3))\n'
        try:
            with System({"it": {"offload/netdev": "eth0"}}, ss=f"printf %s {shlex.quote(said)}"):
                found = port.check(device.links())
                require(found and found[0].repair.startswith(f"kill {child.pid} && "), listed(found))
                require(found[0].subject == printed, found)
        finally:
            child.kill()
            child.wait()


def run_here(*words, checks=(commands, addresses)):
    """(exit status, what is printed, JSON or text) of the command, with these checks alone."""
    before, doctor.CHECKS = doctor.CHECKS, checks
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = cli.main(list(words))
    finally:
        doctor.CHECKS = before
    said = out.getvalue()
    return status, json.loads(said) if "--json" in words and said else said + err.getvalue()


def ip_shows(links):
    up = prints([{"ifname": name, "flags": ["UP", "LOWER_UP"]} for name in links])
    with_address = prints([{"ifname": name, "addr_info": [{"local": "10.0.0.1", "prefixlen": 24, "scope": "global"}]}
                           for name in links])
    return f'case "$*" in *link*) {up} ;; *address*) {with_address} ;; esac'


def control_characters():
    """iproute2 prints names as they are; what hroce prints does not reach a terminal like that."""
    evil = "e\x1b[2J"
    links = {"hroce0": {"offload/netdev": evil, "ports/1/gids/0": "fe80::1", "ports/1/gid_attrs/ndevs/0": evil,
                        "ports/1/gid_attrs/types/0": "RoCE v2"}}
    with System(links, rdma=shown(hroce0=evil), ip=ip_shows([evil])):
        require(device.Device("hroce0").port_netdev().name == evil, "rdma is not understood")
        status, out = run_here("doctor")
        require(status == 0 and "\x1b" not in out and "netdev e\\x1b[2J" in out, out)
        status, out = run_here("link", "show", "hroce0")
        require(status == 0 and "\x1b" not in out, out)
    with System(links, rdma=shown(hroce0=evil), ip=prints([{"ifname": evil, "flags": []}])):
        status, out = run_here("doctor")
        require(status == 1 and "[netdev-down]" in out and "\x1b" not in out, out)


def commands_fail():
    """What cannot be read is no finding about a netdev, and not the same as nothing."""
    links = {"hroce0": {"offload/netdev": "eth0"}}
    good = {"rdma": shown(hroce0="eth0"), "ip": ip_shows(["eth0"])}
    with System(links, **good):
        require(run_here("doctor", "--json")[0] == 0, run_here("doctor"))
    for bad in ({"rdma": "echo no; exit 1"}, {"rdma": "echo no JSON"}, {"rdma": "echo '[ ]'"},
                {"rdma": shown(other="eth0")}, {"ip": "exit 1"}, {"ip": "echo '[{'"}):
        # Of older modules, rdma tells the netdev.
        for it in (links, {"hroce0": {}}):
            with System(it, **good | bad):
                status, report = run_here("doctor", "--json")
                finding = find("command-fails", reported(report))
                require(status == 1 and all(it["id"] == "command-fails" for it in report["findings"]), report)
                require(finding.subject in bad, finding)
                if "rdma" in bad:
                    for words in ("link show", "top --once"):
                        status, out = run_here(*words.split())
                        require(status == 1 and "hroce: rdma -j link show: " in out, out)
    with System({"far": {"offload/netdev": ""}}, rdma="exit 1"):
        require(run_here("doctor", "--json")[0] == 0, "links of other namespaces alone")


LINK, NETDEV, CHAIN = "l$(a);|&'b", "n`c`;d&e\"f", "c$(g)|h"


class EvilNetdev(Netdev):
    """Its name is made to harm, and everything about it is wrong."""
    mtu = 1000
    state = ["UP", "LOWER_UP"]
    local = [{"local": "10.0.0.1", "scope": "global", "interface": ipaddress.ip_interface("10.0.0.1/24")}]

    def __init__(self):
        super().__init__(NETDEV)

    def details(self):
        return {"flags": self.state, "linkinfo": {"info_kind": "vlan"}}

    def addresses(self):
        return self.local

    def features(self):
        return {"tx-scatter-gather": False, "rx-vlan-offload": True}

    def rings(self):
        return 64, 4096

    def pause(self):
        return {"rx": True, "tx": False}

    def routes(self):
        return [("-4", {"dst": "10.9.0.0/24", "metrics": [{"mtu": 400}]})]


class EvilLink(device.Device):
    mode = "software"
    entries = 9

    def __init__(self):
        super().__init__(LINK)

    def gids(self):
        return []

    def gid_entries(self):
        return self.entries

    def netdev(self):
        return EvilNetdev()

    def netdevs(self):
        return [EvilNetdev()]

    netdevs_below = netdevs


def evil_findings():
    evil = EvilLink()
    netdevs = [EvilNetdev() for _ in range(4)]
    netdevs[0].state, netdevs[1].state, netdevs[2].local = [], ["UP"], []
    netdevs[3].local = [dict(EvilNetdev.local[0], dadfailed=True)]
    for netdev in netdevs:
        yield from addresses.check_netdev(evil, netdev)
    for check in (gids, mtu, offloads, pause, rings, port, firewall):
        yield from check.check([evil])
    evil.entries = 0
    yield from gids.check([evil])
    yield from priority.check_vlan(evil, 104, EvilNetdev())
    yield error("offloads", NETDEV, "a", "b", xdp.stripping(EvilNetdev()))
    ends = [peer.End(name, prefix, {"mtu": mtu, "netdev": NETDEV, "queue": queue})
            for name, prefix, mtu, queue in (("here", "", 1500, "tbf"), ("there", "ssh there", 9000, "fq"))]
    yield from peer.find_mtu(ends)
    yield from peer.find_dscp(ends, 104, 0, 0)
    for end in ends:
        yield error("loss", NETDEV, "a", "b", end.without_shaper())


def words_of(line):
    """As the shell splits it, operators by themselves."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    return list(lexer)


def repairs_are_quoted():
    """Whatever is in a name, it is a word of a repair as a whole, and does not reach the shell."""
    rules = [{"chain": {"family": "inet", "table": "t", "name": CHAIN, "hook": "input", "policy": "drop"}}]
    said = 'UNCONN 0 0 *:4791 *:* users:(("a",pid=1,fd=3))'
    with System({}, ss=f"echo {shlex.quote(said)}", nft=prints({"nftables": rules}), ip="exit 1"):
        found = list(evil_findings())
    require(len({it.id for it in found}) >= 15, listed(found))
    for finding in found:
        words = words_of(finding.repair)
        if words[0] == "ssh":
            words = words_of(words[2])
        require(any(name in words for name in (LINK, NETDEV, CHAIN)), finding)
        require(not [word for word in words if word not in (LINK, NETDEV, CHAIN) and set("$`'\"") & set(word)], finding)
    evil = "a'\\\n\x1b\u202eb"
    line = command("printf", "%s", evil)
    require(line.isprintable(), line)
    done = subprocess.run(["bash", "-c", line], capture_output=True, encoding="utf-8", check=True)
    require(done.stdout == evil, done.stdout)


def names():
    for name in ("hroce0", "a", "0", "A.b_c-d", "a" * 63):
        require(device.valid_name(name), name)
    for name in ("", ".", "..", ".a", "-a", "_a", "a/b", "a b", "a\n", "a" * 64, "\u00e9"):
        require(not device.valid_name(name), repr(name))


# systemctl as that of a node with the unit.
UNIT = {"systemctl": 'echo "$*" >>"$(dirname "$0")/../enabled"', "systemd-escape": 'echo "hroce-link@$3.service"'}


def saved_names():
    """A name that would be more than a name in the file that systemd reads, or for its shell."""
    for name in ("a b", "$(a)", "a\nPOLICY=hardware", "-a"):
        with System({name: {"offload/netdev": "eth0"}}, rdma=prints([{"ifname": name}]), **UNIT) as node:
            link.CONFIG = f"{node.directory.name}/config"
            status, out = run_here("link", "save")
            require(status == 1 and "is no name for the unit" in out, out)
            require(not os.path.exists(link.CONFIG) and not os.path.exists(f"{node.directory.name}/enabled"), name)
    with System({"a-1": {"offload/netdev": "-e0"}}, rdma=shown(**{"a-1": "-e0"}), **UNIT) as node:
        link.CONFIG = f"{node.directory.name}/config"
        status, out = run_here("link", "save")
        require(status == 0 and out == f"{link.CONFIG}/-e0.conf\n", out)
        with open(f"{node.directory.name}/enabled", encoding="utf-8") as file:
            require(file.read() == "enable -- hroce-link@-e0.service\n", "enabled otherwise")


def saved_others():
    """Neither a link of another network namespace nor one that cannot be saved keeps the rest from being saved."""
    links = {"a": {"offload/netdev": ""}, "b c": {"offload/netdev": "eth1"}, "d": {"offload/netdev": "eth2"}}
    with System(links, rdma=shown(d="eth2"), **UNIT) as node:
        link.CONFIG = f"{node.directory.name}/config"
        status, out = run_here("link", "save")
        require(status == 1 and out.startswith(f"{link.CONFIG}/eth2.conf\nhroce: b c is no name"), out)
        status, out = run_here("link", "save", "a")
        require(status == 1 and "no netdev in this network namespace" in out, out)
        del links["b c"]
    with System(links, rdma=shown(d="eth2"), **UNIT) as node:
        link.CONFIG = f"{node.directory.name}/config"
        status, answer = run_here("link", "save", "--json")
        require(status == 0 and answer == {"saved": [f"{link.CONFIG}/eth2.conf"]}, answer)


def unit_of_older_modules():
    """The script of the unit, and a module that does not tell the netdev: the name of one is no pattern."""
    for netdev, calls in (("eth0-100", ["show", "add"]), ("eth0.1000", ["show", "add"]), ("eth0.100", ["show"])):
        log = 'echo "$2" >>"$(dirname "$0")/../calls"'
        rdma = f"{log}; [ $2 != show ] || echo 'link x/1 state ACTIVE physical_state LINK_UP netdev {netdev} '"
        with System({}, rdma=rdma, modprobe="true") as node:
            subprocess.run(["sh", SCRIPT, "add", "eth0.100"], check=True)
            with open(f"{node.directory.name}/calls", encoding="utf-8") as file:
                require(file.read().split() == calls, netdev)


def unit_of_renamed_links():
    """The unit knows a link by its netdev: rdma may have given it another name."""
    links = {"other": {"offload/netdev": "eth1"}, "new name": {"offload/netdev": "eth0", "offload/policy": "auto"}}
    with System(links, rdma='printf "%s\\n" "$2" "$3" >>"$(dirname "$0")/../calls"', modprobe="true") as node:
        with open(SCRIPT, encoding="utf-8") as file:
            node.write("unit", file.read().replace("/sys/class/infiniband", system.INFINIBAND))
        for verb, netdev in (("add", "eth0"), ("del", "eth0"), ("del", "eth2")):
            subprocess.run(["sh", f"{node.directory.name}/unit", verb, netdev], check=True,
                           env={**os.environ, "NAME": "old", "POLICY": "software"})
        with open(f"{node.directory.name}/calls", encoding="utf-8") as file:
            calls = file.read()
        require(calls == "del\nnew name\nshow\nold/1\n", calls)
        require(system.read(f"{system.INFINIBAND}/new name/offload/policy") == "software", "no policy")


class Opened:
    """libibverbs that opens the link with this errno, and a node that may be opened, or not, or is not there."""

    def __init__(self, number, node):
        self.number, self.node = number, node

    def finding(self):
        class Link:
            name = "hroce0"
            uverbs = staticmethod(lambda: None if self.node is None else "uverbs7")

        before = library.open_all, os
        library.open_all = lambda: ({"hroce0": self.number}, "")
        library.os = self
        try:
            return library.check([Link])[0]
        finally:
            library.open_all, library.os = before

    R_OK, W_OK = os.R_OK, os.W_OK
    strerror = staticmethod(os.strerror)

    @property
    def path(self):
        return self

    def exists(self, _path):
        return self.node is not None

    def access(self, path, _how):
        return self.node if "uverbs" in path else True


def open_fails():
    """The repair is for what is wrong: rights of the node, if it has others, and that alone."""
    for number in (errno.EACCES, errno.ENOENT):
        repair = Opened(number, False).finding().repair
        require(repair == "chmod 666 /dev/infiniband/uverbs7", repair)
    require("udevadm" in Opened(errno.ENOENT, None).finding().repair, "a node that is not there")
    for number in (errno.ENOMEM, errno.EACCES, errno.ENODEV):
        repair = Opened(number, True).finding().repair
        require("chmod" not in repair, f"{number}: {repair}")


def qdisc_drops():
    """Of a queue that drops now; not what it has dropped before, nor by another queue in place of one that was made."""
    def queue(kind, packets, dropped):
        return prints([{"dev": "eth0", "kind": kind, "root": True, "packets": packets, "drops": dropped}])

    class Link:
        netdevs_below = staticmethod(lambda: [Netdev("eth0")])

    def found(before, after):
        """The second call is told from the first by a file."""
        script = (f'seen=$(dirname "$0")/../seen; if [ -e $seen ]; then {queue(*after)}; '
                  f'else : >$seen; {queue(*before)}; fi')
        with System({}, tc=script):
            return [it for it in drops.check([Link]) if it.id == "qdisc-drops"]

    drops.SECONDS = 0.01
    for before, after in ((("fq", 1000, 500), ("fq", 2000, 500)), (("fq", 1000, 500), ("fq", 90000, 501)),
                          (("fq", 1000, 500), ("fq", 10, 0)), (("fq", 1000, 1), ("fq_codel", 1000, 500))):
        require(not found(before, after), (before, after))
    for kind in ("fq", "tbf", "mq", "htb"):
        one, = found((kind, 1000, 5), (kind, 1000, 6))
        require(("root pfifo" in one.repair) == (kind == "fq"), one)
        require("1 packets of 1 " in one.what, one)


def counters_shrink():
    """A driver that begins anew has not dropped a negative number of packets."""
    values = [5, 0]

    class Shrunk(Netdev):
        def statistic(self, _name):
            return values.pop(0) if values else 0

    class Link:
        netdevs_below = staticmethod(lambda: [Shrunk("eth0")])

    drops.MISSED = ("rx_missed_errors",)
    with System({}, tc="echo '[]'"):
        require(not [it for it in drops.check([Link]) if it.id == "card-drops"], "found")


def odd_numbers():
    """Arguments and answers that are numbers, but none that arithmetic bears."""
    # The command itself: argparse ends the process.
    for words in ("doctor --serve --port 99999", "doctor --serve --port 0", "doctor --port -1 peer",
                  "doctor --port x peer", "top --once --interval inf", "top --once --interval nan",
                  "top --once --interval 1e300"):
        status, out, err = run_command(*words.split())
        require(status == 2 and "Traceback" not in err and not out, f"{words}: {status}\n{err}")
    good = {"version": peer.VERSION, "link": "hroce0", "netdev": "eth0", "queue": "fq", "address": "10.0.0.1",
            "mtu": 1500, "time": 1.5, "counters": {"tx_packets": (1 << 64) - 1}}
    require(peer.understood(json.dumps(good)) == good, "the good one is refused")
    answers = [json.dumps(good).replace('"time": 1.5', f'"time": {it}') for it in ("1e400", "-1e400", "NaN", "1" * 400)]
    for field, value in (("mtu", -1), ("mtu", 1 << 40), ("mtu", False), ("mtu", float("inf")), ("time", True),
                         ("counters", {"a": 1 << 64}), ("counters", {"a": -1}), ("counters", {"a": False}),
                         ("counters", {"a": 1.5})):
        answers.append(json.dumps(good | {field: value}))
    for answer in answers:
        try:
            peer.understood(answer)
        except ValueError:
            continue
        raise Failed(answer)


def what_is_missing():
    """A user without a name, a GID that goes while it is read, a machine whose number of bpf() is not known."""
    before = os.getuid, os.environ.pop("SUDO_USER", None)
    os.getuid = lambda: 4294967294
    try:
        require(memlock.user() == "USER", memlock.user())
    finally:
        os.getuid = before[0]
        os.environ.update({"SUDO_USER": before[1]} if before[1] else {})
    files = {"gids/0": "fe80::1", "gids/1": "", "gids/2": "fe80::2"}
    for index in range(3):
        files |= {f"gid_attrs/ndevs/{index}": "eth0", f"gid_attrs/types/{index}": "RoCE v2"}
    with System({"hroce0": {f"ports/1/{path}": text for path, text in files.items()}}):
        require([it.index for it in device.Device("hroce0").gids()] == [0, 2], "GIDs")
    machine, cc.platform.machine = cc.platform.machine, lambda: "pdp11"
    try:
        cc.StructOps.create_map(Unmapped())
    except OSError as why:
        require("pdp11" in why.strerror, why)
    finally:
        cc.platform.machine = machine


class Unmapped:
    @staticmethod
    def any_btf():
        return 0


def on_terminal(term, *words):
    """(exit status, what is shown) of the command, which gets a q as soon as it shows something."""
    child, screen = pty.fork()
    if child == 0:
        os.execve(TOOL, [TOOL, *words], {**os.environ, "TERM": term})
    seen, status, end = b"", None, time.monotonic() + PATIENCE
    while status is None and time.monotonic() < end:
        if select.select([screen], [], [], 0.1)[0]:
            with contextlib.suppress(OSError):
                seen += os.read(screen, 65536)
                os.write(screen, b"q")
        pid, code = os.waitpid(child, os.WNOHANG)
        status = os.waitstatus_to_exitcode(code) if pid else None
    if status is None:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    os.close(screen)
    return status, seen


def top_on_terminals():
    """Those without colours, without a cursor that can be hidden, and unknown ones. q does not wait for a report."""
    for term, ends in (("linux", 0), ("vt220", 0), ("dumb", 0), ("nothing-like-that", 1)):
        status, seen = on_terminal(term, "top", "--interval", "3600")
        require(status == ends and b"Traceback" not in seen, f"{term}: {status}: {seen}")


def cc_of_root():
    """Others may not look, which is not the same as off."""
    refused = PermissionError(errno.EACCES, "Permission denied", cc.PIN)
    for words in (["cc"], ["cc", "off"], ["cc", __file__]):
        with mock.patch("os.stat", side_effect=refused):
            status, out = run_here(*words)
        require(status == 1 and out == f"hroce: {cc.PIN}: Permission denied: only root may\n", (words, status, out))
    with mock.patch("os.stat", side_effect=FileNotFoundError):
        require(run_here("cc") == (0, "off\n"), "off")


def unknown_links():
    """The status is that of a wrong argument."""
    with System({}):
        for words in ("link del x", "link show x", "link save x", "xdp x", "doctor --link x"):
            status, out = run_here(*words.split())
            require(status == 2 and "no link x" in out, f"{words}: {status}: {out}")
    with mock.patch("hroce_tool.peer.program", lambda: None), System({}):
        for words in ("doctor there", "doctor --serve"):
            status, out = run_here(*words.split(), checks=())
            require(status == 1 and "hroce-peer is not installed" in out, f"{words}: {status}: {out}")


def output_ends():
    """A reader that has seen enough is no error to speak of; a full disk is one. Neither is a traceback."""
    for words in ("--help", "link show --json", "doctor"):
        reader, writer = os.pipe()
        os.close(reader)
        with open("/dev/full", "wb") as full:
            for out, status, said in ((writer, 141, ""), (full, 1, "hroce: standard output: No space left on device\n")):
                done = subprocess.run([TOOL, *words.split()], stdout=out, stderr=subprocess.PIPE, text=True, check=False)
                require((done.returncode, done.stderr) == (status, said), f"{words}: {done}")
        os.close(writer)
        done = subprocess.run(["bash", "-c", f"{TOOL} {words} >&-"], stderr=subprocess.PIPE, text=True, check=False)
        require(done.returncode in (0, 1) and not done.stderr, f"{words}: {done}")


def other_locale():
    """Letters that the locale has not are printed in another way."""
    start = "import sys; from hroce_tool import cli, system; system.INFINIBAND = sys.argv[1]; sys.exit(cli.main(sys.argv[2:]))"
    with System({"linké": {"offload/netdev": "eth0"}}, rdma="echo '[]'"):
        env = {**os.environ, "PYTHONPATH": os.path.dirname(TOOL), "PYTHONIOENCODING": "ascii"}
        done = subprocess.run(["python3", "-B", "-c", start, system.INFINIBAND, "link", "show"], env=env,
                              capture_output=True, text=True, check=False)
    require("link\\xe9" in done.stdout and "Traceback" not in done.stderr, done)


def top_without_curses():
    with mock.patch.dict("sys.modules", {"curses": None}), mock.patch("hroce_tool.top.rdma_fails", lambda: ""), \
            mock.patch("hroce_tool.top.sys"):
        status, out = run_here("top")
    require(status == 1 and out.endswith(": use --once\n"), (status, out))


def xdp_of_root():
    """To look takes root, too."""
    refused = PermissionError(errno.EPERM, "Operation not permitted")
    with System({"a": {}}), mock.patch.object(xdp, "programs", side_effect=refused):
        require(run_here("xdp", "a") == (1, "hroce: a: Operation not permitted: only root may\n"), run_here("xdp", "a"))


def metrics_of_odd_names():
    """What hroce-metrics writes can be parsed, whatever links are called and whatever the locale is."""
    counters = {"hca_type": "hroce", "ports/1/hw_counters/tx_packets": "5"}
    names = ('a"b', "a\\nb", "a\nb", "linké", "plain")
    with System({name: counters for name in names}) as node:
        with open(METRICS, encoding="utf-8") as file:
            node.write("metrics", file.read().replace("/sys/class/infiniband", system.INFINIBAND))
        os.mkdir(os.fsencode(f"{system.INFINIBAND}/") + b"\xff")
        os.mkdir(os.fsencode(f"{system.INFINIBAND}/") + b"\xff/ports")
        with open(os.fsencode(f"{system.INFINIBAND}/") + b"\xff/hca_type", "wb") as file:
            file.write(b"hroce\n")
        run = ["python3", "-B", f"{node.directory.name}/metrics"]
        env = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        printed = subprocess.run(run, env=env, capture_output=True, check=False)
        require(printed.returncode == 0, printed.stderr)
        subprocess.run([*run, f"{node.directory.name}/out"], env=env, check=True)
        with open(f"{node.directory.name}/out", "rb") as file:
            require(file.read() == printed.stdout, "the file is another one")
    devices = [re.match(r'hroce_tx_packets_total\{device="((?:[^"\\\n]|\\["\\n])*)",port="1"\} 5$', line)
               for line in printed.stdout.decode().splitlines() if line.startswith("hroce_tx_packets_total")]
    require(all(devices), printed.stdout)
    escapes = {r"\\": "\\", r"\"": '"', r"\n": "\n"}
    got = [re.sub(r"\\.", lambda it: escapes[it.group()], it[1]) for it in devices]
    require(sorted(got) == sorted(names), got)


def packages_of_rpm():
    """Names of packages are those of the system."""
    for tools, line in ((("apt", "dnf"), "apt install iproute2 linux-headers-6.1"),
                        (("dnf",), "dnf install iproute kernel-devel-6.1"),
                        ((), "INSTALL iproute2 linux-headers-6.1")):
        with mock.patch("shutil.which", lambda name, tools=tools: name in tools):
            require(packages.install("iproute2", "linux-headers-6.1") == line, (tools, line))


def packages_of_hroce():
    """They are in no archive, and come in the way that one of them has come."""
    deb, rpms = "./build/deb/*.deb", "./build/rpm/*.x86_64.rpm ./build/rpm/*.noarch.rpm"
    for dpkg, rpm, first, again in (
            ("libhroce", "", f"apt install {deb}", f"apt install --reinstall {deb}"),
            ("", "hroce-tools", f"dnf install {rpms}", f"rpm -U --replacepkgs {rpms}"),
            ("", "", "make -C SOURCES install", "make -C SOURCES install")):
        with System({}, **{"dpkg-query": f'[ "$2" = "{dpkg}" ]', "rpm": f'[ "$2" = "{rpm}" ]'}):
            for repair, end in ((packages.install_ours(), first), (packages.install_ours(again=True), again)):
                require(repair.endswith(f" && {end}"), repair)


def key_not_enrolled():
    """A signature is none for a firmware that does not know its key; of other keys, nothing is said."""
    with System({"a": {}}, modinfo='echo "DKMS module signing key"', mokutil='cat "$(dirname "$0")/../answer"') as node, \
            mock.patch.object(module, "lockdown", lambda: "integrity"), \
            mock.patch.object(module, "CERTIFICATES", ("/nonesuch", f"{node.directory.name}/mok.pub")):
        path = module.CERTIFICATES[-1]
        enroll = f"mokutil --import {path} && reboot"
        for subject, answer, repair in (("DKMS module signing key", "is not enrolled", enroll),
                                        ("DKMS module signing key", "is already enrolled", None),
                                        ("DKMS module signing key", "is already in the enrollment request", "reboot"),
                                        ("DKMS module signing key", "", None), ("another", "is not enrolled", None)):
            node.write("mok.pub", f"0\x81{subject}\x82")
            node.write("answer", f"{path} {answer}\n")
            found = [it.repair for it in module.signature()]
            require(found == ([repair] if repair else []), (subject, answer, found))
        node.write("bin/modinfo", "#!/bin/sh\n")
        unsigned, = module.signature()
        require("no signature" in unsigned.what and unsigned.repair.endswith(enroll), unsigned)


def memlock_steps():
    """The repair makes what is missing: the group, the file, or neither."""
    usual = "usermod -aG rdma USER"
    for group, there, repair in (({}, True, usual), (KeyError, True, f"groupadd -r rdma && {usual}"),
                                 ({}, False, f"echo '@rdma - memlock unlimited' >{memlock.LIMITS} && {usual}")):
        with mock.patch("grp.getgrnam", side_effect=[group]), \
                mock.patch("os.path.exists", lambda _path, it=there: it), \
                mock.patch("resource.getrlimit", lambda _which: (8 << 20, 8 << 20)), \
                mock.patch("hroce_tool.checks.memlock.user", lambda: "USER"):
            finding, = memlock.check([None])
            require(finding.repair == repair, finding)


def link_goes():
    """That of an end, while it is measured; and a peer that says nothing about one."""
    good = {"version": peer.VERSION, "link": "hroce0", "netdev": "eth0", "queue": "fq", "address": "10.0.0.1",
            "mtu": 1500, "time": time.time(), "counters": {}}
    gone = {"version": peer.VERSION, "link": None, "address": "10.0.0.1"}
    for local, remote, subject in (([good, good], [good, gone], "there"), ([good, gone], [good, good], "this node"),
                                   ([good], [{"version": peer.VERSION, "address": "10.0.0.1"}], "there")):
        asked = mock.Mock(own="10.0.0.1", **{"state.side_effect": remote})
        with mock.patch.multiple(peer, state=mock.Mock(side_effect=local), measure=lambda *_: ([{"direction": "send",
                                 "status": "ok", "size": 1, "damaged": 0, "messages": 1, "ns": 1}], ""),
                                 measure_tos=lambda *_: None, measure_speed=lambda *_: []):
            require(find("peer-no-link", peer.examine(asked, "there", peer.PORT)[0]).subject == subject, subject)


def odd_hosts():
    with mock.patch.object(peer, "need_program"):
        for host in ("node1..lan", "a" * 64 + ".lan"):
            find("peer-unreachable", peer.check(host, peer.PORT)[0])


def main():
    cases = Cases()
    for case in (completion_names, completion_typed, own_netdev, forged_process, control_characters, commands_fail,
                 repairs_are_quoted, names, saved_names, saved_others, unit_of_older_modules, unit_of_renamed_links,
                 open_fails, qdisc_drops, counters_shrink, odd_numbers, what_is_missing, top_on_terminals, cc_of_root,
                 output_ends, other_locale, top_without_curses, xdp_of_root, unknown_links,
                 metrics_of_odd_names, packages_of_rpm, packages_of_hroce, key_not_enrolled, memlock_steps, link_goes, odd_hosts):
        cases.run(f"host.{case.__name__}", case)
    return cases.done()


if __name__ == "__main__":
    raise SystemExit(main())
