#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Boot guests on one virtual network and run a command in each; called by selftests/vm/run.

A guest is QEMU without hardware virtualisation (stock kernels) or a user-mode Linux process.
Host and guests talk through two shared directories: "sync" with the configuration on the way in, and exit
status and kernel log on the way out; "out" for whatever the command wants to leave behind.
"""

import argparse
import ctypes
import fcntl
import glob
import os
import re
import selectors
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time

VM_DIR = os.path.dirname(os.path.realpath(__file__))
TREE = os.path.dirname(os.path.dirname(VM_DIR))
CACHE = os.environ.get("HROCE_CACHE") or os.path.expanduser("~/.cache/hroce")
BUILD = os.environ.get("HROCE_BUILD") or os.path.join(TREE, "build")
sys.path.append(os.path.join(TREE, "selftests/lib"))

import tap

# Where a guest has the host's files as they are, even those that a tmpfs hides.
HOST = "/run/vm/host"
PROVIDER = "libhroce-rdmav*.so"
PROVIDER_DIR = "/usr/lib/x86_64-linux-gnu/libibverbs"

# TCG emulates these instructions several times slower than the plain code that is used without them, which
# would distort every comparison. VM_CPU=max has them all.
CPU = os.environ.get("VM_CPU", "max,-erms,-fsrm,-pclmulqdq")
ACCEL = os.environ.get("VM_ACCEL", "tcg,thread=multi")
MEMORY = os.environ.get("VM_MEM", "2G")
# More options of QEMU, quoted as for a shell, and more words for the kernel's command line.
QEMU_OPTIONS = shlex.split(os.environ.get("VM_QEMU", ""))
APPEND = os.environ.get("VM_APPEND", "")

# Stock kernels of Debian, and all kernels that modules are built for by themselves.
STOCK = ("6.12", "6.1", "7.3", "7.2")
BUILT = STOCK + ("uml", "debug", "gcov", "smp-debug", "kcsan")

# Network cards, less the last byte.
MAC = "52:54:00:77:00:"

STATUS_TIMEOUT = 124
STATUS_NOT_RUN = 125
STATUS_KERNEL = 99
# How long the other guests may go on after a command has failed.
GRACE_SECONDS = 30
# How often guests are booted at most. Emulated CPUs now and then execute code that another one has just patched (the
# breakpoint of a static branch), which kills their kernel; most such code is patched while it boots.
BOOTS = 3
# Seconds that a boot may take; it takes 5 to 30.
BOOT_TIME = 120
STALE_BREAKPOINT = re.compile(r"Oops: int3: 0000|\bint3: 0000 \[#")

# Lines of the kernel log that mean a bug.
REPORT = re.compile(
    r"\bWARNING: |\bBUG: |kernel BUG at|\bBUG\b.*(?:leak|corrupt)|KASAN: |KCSAN: |UBSAN: |KFENCE: "
    r"|Kernel panic|Oops: |Oops\[|general protection fault|Unable to handle kernel|Internal error: "
    r"|scheduling while atomic|sleeping function called from invalid"
    r"|possible recursive locking|possible circular locking|possible deadlock|inconsistent lock state"
    r"|suspicious RCU usage|held lock freed|lock held when returning|Invalid wait context|bad unlock balance"
    r"|DEBUG_LOCKS_WARN_ON|INFO: task .* blocked for more|rcu.*self-detected stall"
    r"|rcu.*detected (?:expedited )?stalls|soft lockup|hard LOCKUP|workqueue lockup|Bad page state"
    r"|list_(?:add|del) corruption|refcount_t: |ODEBUG: |unregister_netdevice: waiting for"
    r"|kmemleak: .*new suspected|nobody cared|stack guard page|Bad rss-counter"
)
# In a stack; the name of the function that a worker of the core kernel executes is on a line of its own, "Workqueue:".
FRAME_OF_HROCE = re.compile(r"\+0x[0-9a-f]+/0x[0-9a-f]+ \[hroce\]")
# Debug options that announce themselves, a debug kernel's own limits, and a fault of rdma_rxe (interop/run.sh).
REPORT_NOT = re.compile(
    r"kmemleak: |This will likely|\*\*\* DEADLOCK|WARNING: kernel not configured"
    r"|WARNING: .* at drivers/infiniband/sw/rxe/rxe_comp\.c:\d+ rxe_completer"
)


def fail(message):
    print("run: " + message, file=sys.stderr)
    sys.exit(STATUS_NOT_RUN)


def is_of_others(log, number):
    """Whether a data race is reported there that hroce has no part in: the core kernel has many, on purpose or not."""
    if "BUG: KCSAN: " not in log[number]:
        return False
    for line in log[number:number + 200]:
        if FRAME_OF_HROCE.search(line):
            return False
        if line.endswith("=" * 60):
            break
    return True


def reports(log):
    """Each bug that the kernel reports in the lines of its log: the line, and those behind it."""
    for number, line in enumerate(log):
        if REPORT.search(line) and not REPORT_NOT.search(line) and not is_of_others(log, number):
            # Less the frames that the kernel itself doubts.
            yield line, [more for more in log[number + 1:number + 80] if "] ? " not in more and "  ? " not in more]


class Kernel:
    """What -k names: the image, its release, its modules, and whether it is a user-mode Linux."""

    def __init__(self, name):
        if name in STOCK:
            path = os.path.join(CACHE, "kernel-" + name)
        elif name in BUILT:
            path = subprocess.run([os.path.join(VM_DIR, "build-kernel"), name], stdout=subprocess.PIPE, text=True,
                                  check=False).stdout.strip()
            if not path:
                fail(f"there is no {name} kernel")
        else:
            path = os.path.abspath(name)
        self.directory, self.image = self.find_image(path)
        self.uml = self.is_elf_executable(self.image)
        self.release = self.find_release()
        self.modules = self.find_modules()

    @staticmethod
    def find_image(path):
        if os.path.isfile(path):
            return os.path.dirname(path), path
        for image in ("linux", "vmlinuz", "bzImage"):
            if os.path.isfile(os.path.join(path, image)):
                return path, os.path.join(path, image)
        fail(f"{path}: no kernel image there")

    @staticmethod
    def is_elf_executable(path):
        with open(path, "rb") as image:
            return image.read(4) == b"\x7fELF"

    def find_release(self):
        if self.uml:
            return subprocess.run([self.image, "--version"], stdout=subprocess.PIPE, text=True,
                                  check=True).stdout.strip()
        with open(self.image, "rb") as image:
            header = image.read(0x210)
            if header[0x202:0x206] != b"HdrS" and header[0x1fe:0x200] != b"\x55\xaa":
                fail(f"{self.image}: neither a bzImage nor a user-mode Linux")
            image.seek(int.from_bytes(header[0x20e:0x210], "little") + 0x200)
            return image.read(256).split(b"\0")[0].split(b" ")[0].decode()

    def find_modules(self):
        for base in (self.directory, os.path.join(self.directory, "modules"), "/"):
            path = os.path.join(base, "lib/modules", self.release)
            if os.path.exists(os.path.join(path, "modules.dep")):
                return path
        return ""

    def initrd(self):
        base = self.modules[:-len("/lib/modules/" + self.release)] or "/"
        done = subprocess.run([os.path.join(VM_DIR, "initrd"), base, self.release], stdout=subprocess.PIPE,
                              text=True, check=False)
        if done.returncode:
            fail("cannot make the initial RAM disk")
        return done.stdout.strip()


class Guest:
    """One running guest: its process, its output, and the files it leaves."""

    def __init__(self, run, node):
        self.run = run
        self.node = node
        self.prefix = f"node{node}: " if run.args.nodes > 1 else ""
        self.partial = b""
        self.console = os.path.join(run.directory, f"console.{node}")
        self.errors = os.path.join(run.directory, f"stderr.{node}")
        self.process = None

    def path(self, name):
        return os.path.join(self.run.sync, f"{name}.{self.node}")

    def command_line(self):
        words = f"vm.node={self.node} vm.init={VM_DIR}/guest/init panic=-1 rdinit=/init loglevel=5 audit=0"
        if self.run.root:
            words += f" vm.root={self.run.root} vm.tree={TREE}"
        if self.run.kernel.uml:
            return (f"{words} vm.fs=hostfs vm.sync={self.run.sync} vm.out={self.run.out}"
                    " bonding.max_bonds=0 dummy.numdummies=0 ifb.numifbs=0")
        return f"{words} vm.fs=9p console=ttyS0 rcupdate.rcu_cpu_stall_timeout=60 net.ifnames=0 {APPEND}"

    def qemu(self, network):
        run = self.run
        command = [
            "qemu-system-x86_64", "-accel", ACCEL, "-cpu", CPU, "-smp", str(run.args.cpus), "-m", MEMORY,
            "-M", "q35", "-nodefaults", "-display", "none", "-no-reboot", "-no-user-config",
            "-kernel", run.kernel.image, "-initrd", run.initrd, "-append", self.command_line(),
            "-serial", "file:" + self.console,
            "-chardev", "stdio,id=output,signal=off",
            "-device", "virtio-serial-pci", "-device", "virtconsole,chardev=output",
        ]
        for tag, path, options in (("hostroot", "/", ",readonly=on"), ("sync", run.sync, ""), ("out", run.out, "")):
            command += ["-fsdev", f"local,id={tag},path={path},security_model=none,multidevs=remap{options}",
                        "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
        return command + network + QEMU_OPTIONS

    def uml(self, network):
        run = self.run
        return [run.kernel.image, "mem=" + MEMORY, "initrd=" + run.initrd, f"umid=guest{self.node}",
                "uml_dir=" + run.directory, "con=null", "con0=null,fd:2",
                "con1=fd:0,fd:1" if run.args.interactive else "con1=null,fd:1",
                "console=tty0"] + network + self.command_line().split()

    def start(self, network, fds):
        interactive = self.run.args.interactive
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(
                self.uml(network) if self.run.kernel.uml else self.qemu(network),
                stdin=None if interactive else subprocess.DEVNULL,
                stdout=None if interactive else subprocess.PIPE,
                stderr=errors, pass_fds=fds, cwd=self.run.directory,
                preexec_fn=die_with_parent if interactive else leave_terminal)

    def read_output(self):
        """Pass on what the command prints, line by line. Return False at its end."""
        data = os.read(self.process.stdout.fileno(), 65536)
        lines = (self.partial + data).split(b"\n")
        self.partial = lines.pop()
        if not data and self.partial:
            lines.append(self.partial)
            self.partial = b""
        for line in lines:
            self.run.show(self.node, line.rstrip(b"\r"))
        sys.stdout.flush()
        return bool(data)

    def status(self):
        """The exit status of the command; None while there is none."""
        try:
            with open(self.path("exit"), encoding="ascii") as file:
                return int(file.read())
        except (FileNotFoundError, ValueError):
            return None

    def is_ready(self):
        """Whether it waits for word to go on, with nothing wrong so far."""
        return os.path.exists(self.path("ready")) and not any(self.kernel_reports())

    def is_dead(self):
        """Whether it ended, or its kernel reported a bug, before it had a command to give a status of."""
        return self.status() is None and (self.process.poll() is not None or any(self.kernel_reports()))

    def forget(self):
        """Remove what this boot left behind."""
        for name in ("ready", "dmesg", "ps"):
            if os.path.exists(self.path(name)):
                os.unlink(self.path(name))

    def log_files(self):
        if self.run.kernel.uml:
            return [self.path("dmesg"), self.errors]
        return [self.path("dmesg"), self.console]

    def kernel_log(self):
        """The kernel's log: the whole one where the guest could still write it, else the console's."""
        for path in self.log_files():
            lines = self.lines(path)
            if lines:
                return lines
        return []

    @staticmethod
    def lines(path):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def machine_failure(self):
        """What the emulated machine did wrong, if it did; else an empty string."""
        if self.run.kernel.uml:
            return ""
        if any(STALE_BREAKPOINT.search(line) for line in self.kernel_log()):
            return "a CPU executed a breakpoint that was no longer there"
        if self.stood_still():
            return "it stood still"
        return ""

    def stood_still(self):
        """Whether time ran out, and neither the kernel nor the process that looks out for hangs had anything to say."""
        return (self.run.timed_out and self.status() is None and self.process.poll() is None
                and not os.path.exists(self.path("ps")) and not any(self.kernel_reports()))

    def kernel_reports(self):
        return reports(self.kernel_log())

    def leaks(self):
        """Leaked objects that hroce allocated. Frames of an unloaded module have no name, so they count as well."""
        try:
            with open(self.path("kmemleak"), encoding="utf-8", errors="replace") as file:
                objects = re.split(r"(?m)^(?=unreferenced object)", file.read())
        except FileNotFoundError:
            return []
        return [text for text in objects if re.search(r"hroce|^\s+\[?<?(?:0x)?[0-9a-f]{8,}>?\]? *(?:0x[0-9a-f]+)?$",
                                                      text, re.M)]

    def say(self, text):
        sys.stdout.flush()
        for line in text.splitlines():
            print(f"{self.prefix}{line}", file=sys.stderr)

    def show_death(self):
        """Say what is known of a guest that never reported its command's status; return the kernel log's end."""
        end = self.kernel_log()[-60:]
        errors = [line for line in self.lines(self.errors) if "is not connected to host network" not in line]
        self.say("run: the guest died or hung")
        for title, lines in (("the kernel's log", end),
                             ("messages of the machine", [] if self.run.kernel.uml else errors[-10:]),
                             ("processes near the end", self.lines(self.path("ps")))):
            if lines:
                self.say(f"run: {title}:\n" + "\n".join(lines))
        return end

    def judge(self):
        """Report what is wrong with this guest, and return the status that it gives the run."""
        status = self.status()
        seen = self.show_death() if status is None else []
        reports = list(self.kernel_reports())
        fresh = [(line, context) for line, context in reports if line not in seen]
        for number, (line, context) in enumerate(fresh[:5]):
            self.say(f"run: the kernel reported: {line}")
            if number == 0:
                self.say("\n".join(context))
        leaks = self.leaks()
        for leak in leaks[:5]:
            self.say("run: memory leak:\n" + leak)
        if status:
            self.say(f"run: exit status {status}")
        return status or (STATUS_KERNEL if reports or leaks else status)


def die_with_parent():
    """Runs in the child: end with the parent, however that one ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def leave_terminal():
    """The same, and out of reach of the terminal's Ctrl-C: the parent ends the guests in its own way."""
    die_with_parent()
    os.setpgid(0, 0)


class Run:
    """A run: the guests, their network, and the directories that they share with the host."""

    def __init__(self, args):
        self.args = args
        self.kernel = Kernel(args.kernel)
        if self.kernel.uml and args.nodes > 2:
            fail("user-mode Linux has a wire, but no hub: two nodes at most")
        self.initrd = self.kernel.initrd()
        self.root = root_of(args.suite) if args.suite else ""
        self.directory = tempfile.mkdtemp(prefix="hroce-vm-")
        self.sync = os.path.join(self.directory, "sync")
        self.out = os.path.realpath(os.environ.get("VM_OUT") or os.path.join(self.directory, "out"))
        os.makedirs(self.sync)
        os.makedirs(self.out, exist_ok=True)
        self.guests = [Guest(self, node) for node in range(1, args.nodes + 1)]
        self.timed_out = False
        self.merger = tap.Merger() if args.nodes > 1 else None

    def module(self):
        """Path and dependencies of hroce.ko for this kernel."""
        path = os.environ.get("HROCE_KO") or os.path.join(BUILD, "kernel-" + self.kernel.release, "hroce.ko")
        if not os.path.exists(path):
            if self.args.load:
                fail(f"{path} is missing: build it with 'make modules' (or leave it out with --no-load)")
            return "", ""
        depends = subprocess.run(["modinfo", "-F", "depends", path], stdout=subprocess.PIPE, text=True,
                                 check=True).stdout.strip()
        return os.path.realpath(path), depends.replace(",", " ")

    def provider(self):
        path = os.environ.get("HROCE_PROVIDER")
        if not path:
            found = glob.glob(os.path.join(BUILD, user_target(self.args.suite), PROVIDER))
            path = found[0] if len(found) == 1 else ""
        return os.path.realpath(path) if os.path.exists(path) else ""

    def write_config(self):
        module, depends = self.module()
        provider = self.provider()
        environment = [f"{name}={value}" for name, value in os.environ.items()
                       if name.startswith("HROCE_") or name == "NO_COLOR"] + self.args.env
        values = {
            "NODES": str(self.args.nodes), "VM_CWD": os.getcwd(), "VM_TREE": TREE,
            "VM_FS": "hostfs" if self.kernel.uml else "9p", "VM_RELEASE": self.kernel.release,
            "VM_MODULES": os.path.realpath(self.kernel.modules) if self.kernel.modules else "",
            "VM_KO": HOST + module if module else "", "VM_KO_DEPENDS": depends or "ib_core", "VM_LOAD": str(int(self.args.load)),
            "VM_SYSTEMD": str(int(self.args.systemd)),
            "VM_PROVIDER": HOST + provider if provider else "", "VM_PROVIDER_DIR": PROVIDER_DIR,
            "VM_OUTPUT": "/dev/tty1" if self.kernel.uml else "/dev/hvc0",
            "VM_TIME": str(self.args.time), "VM_INTERACTIVE": str(int(self.args.interactive)),
            "VM_ROWS": str(shutil.get_terminal_size().lines), "VM_COLUMNS": str(shutil.get_terminal_size().columns),
        }
        with open(os.path.join(self.sync, "config"), "w", encoding="utf-8") as config:
            for name, value in values.items():
                config.write(f"{name}={shlex.quote(value)}\n")
            config.write("VM_COMMAND=(" + " ".join(map(shlex.quote, self.args.command)) + ")\n")
            config.write("VM_ENV=(" + " ".join(map(shlex.quote, environment)) + ")\n")

    def uml_network(self):
        """User-mode Linux's network options, with the sockets that hold its ports: nothing for one node, a wire for two.

        Frames travel in UDP on the loopback device. The kernel wants to be told port numbers, and lets others share them:
        so each takes along a socket that only lets it do that. Nothing arrives there, as it is connected to itself.
        """
        if self.args.nodes == 1:
            return [[]], [[]]
        sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
        for holder in sockets:
            holder.bind(("127.0.0.1", 0))
            # Not before the port is ours alone.
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            holder.connect(holder.getsockname())
        near, far = (holder.getsockname()[1] for holder in sockets)
        return [[f"eth0=ucast,{MAC}01,127.0.0.1,{near},{far}"], [f"eth0=ucast,{MAC}02,127.0.0.1,{far},{near}"]], \
            [[holder] for holder in sockets]

    def qemu_network(self):
        """QEMU's network options for each node, with the sockets they need: a wire for two, a hub for more.

        The hub lives in the process of node 1, which has one port for each other node. All sockets are made
        here in pairs, so there is no port number that another run might take.
        """
        nodes = self.args.nodes
        options = [[] for _ in range(nodes)]
        sockets = [[] for _ in range(nodes)]

        def connect(node, end, name):
            sockets[node].append(end)
            options[node] += ["-netdev", f"socket,id={name},fd={end.fileno()}"]

        for node in range(1, nodes):
            ends = socket.socketpair()
            connect(0, ends[0], "net0" if nodes == 2 else f"wire{node}")
            connect(node, ends[1], "net0")
            if nodes > 2:
                options[0] += ["-netdev", f"hubport,id=port{node},hubid=0,netdev=wire{node}"]
        if nodes > 2:
            options[0] += ["-netdev", "hubport,id=net0,hubid=0"]
        if nodes == 1:
            # Nobody is there, but frames must go somewhere, or the device's queue stands still.
            options[0] += ["-netdev", "user,id=net0,restrict=on"]
        for node in range(nodes):
            options[node] += ["-device",
                              f"virtio-net-pci,netdev=net0,host_mtu=9000,mac={MAC}{node + 1:02x},romfile="]
        return options, sockets

    def start(self):
        options, sockets = self.uml_network() if self.kernel.uml else self.qemu_network()
        for guest, network, ends in zip(self.guests, options, sockets):
            guest.start(network, [end.fileno() for end in ends])
        for ends in sockets:
            for end in ends:
                end.close()

    def wait_until_ready(self):
        """Wait until all guests run. Return False if one has died before that, or does not get there."""
        end = time.monotonic() + min(self.args.time, BOOT_TIME)
        while not all(guest.is_ready() or guest.status() is not None for guest in self.guests):
            if any(guest.is_dead() for guest in self.guests) or time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def boot(self):
        """Start the guests, and let them go on to hroce and the command when all run.

        A kernel that dies or hangs before hroce is there is started again; the last attempt is left to be judged.
        """
        for attempt in range(1, BOOTS + 1):
            self.start()
            if self.wait_until_ready() or attempt == BOOTS:
                break
            for guest in self.guests:
                if guest.is_dead():
                    guest.show_death()
            print("run: not there yet when it died or hung, so all guests are booted again", file=sys.stderr)
            self.end_guests()
            for guest in self.guests:
                guest.forget()
        with open(os.path.join(self.sync, "go"), "w", encoding="ascii"):
            pass

    def watch(self):
        """Until all commands have ended, or time is up. Return the first status that is not zero, else 0."""
        end = time.monotonic() + self.args.time
        statuses = {}
        first_bad = 0
        waiting = selectors.DefaultSelector()
        for guest in self.guests:
            if guest.process.stdout:
                waiting.register(guest.process.stdout, selectors.EVENT_READ, guest)
        while len(statuses) < len(self.guests):
            if waiting.get_map():
                for key, _ in waiting.select(0.1):
                    if not key.data.read_output():
                        waiting.unregister(key.fileobj)
            else:
                time.sleep(0.1)
            for guest in self.guests:
                if guest.node in statuses:
                    continue
                gone = guest.process.poll() is not None
                status = guest.status()
                if status is None and not gone:
                    continue
                statuses[guest.node] = STATUS_KERNEL if status is None else status
                if statuses[guest.node] and not first_bad:
                    first_bad = statuses[guest.node]
                    end = min(end, time.monotonic() + GRACE_SECONDS)
            if time.monotonic() > end and not self.args.interactive:
                if not first_bad:
                    print(f"run: not finished after {self.args.time} s", file=sys.stderr)
                    first_bad = STATUS_TIMEOUT
                    self.timed_out = True
                break
        for key, _ in waiting.select(0):
            key.data.read_output()
        self.show_plan()
        return first_bad

    def show(self, node, line):
        """Print a line of a guest: as it is if that is the only one, else as a part of the TAP of all."""
        if self.merger:
            line = self.merger.line(f"node{node}", line.decode(errors="surrogateescape"))
            line = line and line.encode(errors="surrogateescape")
        if line is not None:
            sys.stdout.buffer.write(line + b"\n")

    def show_plan(self):
        plan = self.merger and self.merger.plan()
        if plan:
            print(plan, flush=True)

    def save_logs(self):
        if os.environ.get("VM_OUT"):
            for guest in self.guests:
                with open(os.path.join(self.out, f"dmesg.{guest.node}"), "w", encoding="utf-8") as file:
                    file.write("\n".join(guest.kernel_log()) + "\n")

    def end_guests(self):
        for guest in self.guests:
            if guest.process and guest.process.poll() is None:
                guest.process.kill()
        for guest in self.guests:
            if guest.process:
                guest.process.wait()
                if self.kernel.uml and not self.args.interactive:
                    # Its helpers are in its process group.
                    try:
                        os.killpg(guest.process.pid, signal.SIGKILL)
                    except ProcessLookupError:
                        pass

    def keep_counts(self):
        """Which lines were executed, if the kernel has counted it: for selftests/coverage."""
        counts = os.environ.get("VM_COUNTS")
        for guest in self.guests if counts else []:
            source = os.path.join(self.sync, f"gcov.{guest.node}")
            if os.path.isdir(source):
                shutil.copytree(source, os.path.join(counts, f"{os.getpid()}.{guest.node}"), symlinks=True)

    def stop(self):
        self.end_guests()
        try:
            self.keep_counts()
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)


def parse_arguments():
    parser = argparse.ArgumentParser(prog="run", usage="run [-n NODES] [-k 6.12|6.1|7.3|7.2|uml|debug|gcov|smp-debug|kcsan|PATH] "
                                     "[-c CPUS] [-r SUITE] [-t SECONDS] [-e NAME=VALUE] [--no-load] [--systemd] [-i] "
                                     "-- COMMAND...")
    parser.add_argument("-n", dest="nodes", type=int, default=1, metavar="NODES")
    parser.add_argument("-k", dest="kernel", default=os.environ.get("VM_KERNEL") or "6.12", metavar="KERNEL")
    parser.add_argument("-r", dest="suite", default="", metavar="SUITE")
    parser.add_argument("-c", dest="cpus", type=int, default=2, metavar="CPUS")
    parser.add_argument("-t", dest="time", type=int, default=120, metavar="SECONDS")
    parser.add_argument("-e", dest="env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("-i", dest="interactive", action="store_true")
    parser.add_argument("--no-load", dest="load", action="store_false")
    parser.add_argument("--systemd", action="store_true")
    parser.add_argument("command", nargs="*")
    args = parser.parse_args()
    if not args.command:
        parser.error("no command")
    if not 1 <= args.nodes <= 16 or args.cpus < 1 or args.time < 1:
        parser.error("1 to 16 nodes, at least one CPU, at least one second")
    if args.interactive and args.nodes > 1:
        parser.error("-i is for one node")
    return args


def root_of(suite):
    """The root file system of a suite of Debian."""
    path = subprocess.run([os.path.join(VM_DIR, "root"), suite], stdout=subprocess.PIPE, text=True,
                          check=False).stdout.strip()
    if not path:
        fail(f"there is no root file system of {suite}")
    return path


def user_target(suite):
    """What selftests/lib/need calls the provider for a suite: also the name of its directory."""
    return f"user-{suite}" if suite else "user"


def build(kernel, suite):
    """Build module and provider if they are missing or older than their sources, unless the caller has taken care of it."""
    if kernel not in BUILT or any(os.environ.get(name) for name in ("VM_PREPARED", "HROCE_KO", "HROCE_BUILD")):
        return
    need = os.path.join(TREE, "selftests/lib/need")
    if subprocess.run([need, kernel, user_target(suite)], stdin=subprocess.DEVNULL, check=False).returncode:
        fail("cannot build what the guests need")


def take_slot():
    """Wait until few enough runs are under way on this host.

    More only starve each other, and time-outs in the guests become lies.
    Interactive runs do not come here. The lock goes with the process.
    """
    slots = [open(os.path.join(CACHE, f"slot{i}.lock"), "a", encoding="ascii")
             for i in range(os.cpu_count() // 2 + 1)]
    while True:
        for slot in slots:
            try:
                fcntl.flock(slot, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return slot
            except BlockingIOError:
                pass
        time.sleep(0.3)


def main():
    # Any signal that ends us does so through the clean-up below.
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    args = parse_arguments()
    build(args.kernel, args.suite)
    slot = None if args.interactive else take_slot()
    terminal = termios.tcgetattr(0) if args.interactive and os.isatty(0) else None
    run = Run(args)
    try:
        run.write_config()
        run.boot()
        status = run.watch()
        for guest in run.guests:
            found = guest.judge()
            status = status or found or 0
        failure = next(filter(None, (guest.machine_failure() for guest in run.guests)), "")
        if failure:
            print("run: the machine failed: " + failure, file=sys.stderr)
        run.save_logs()
    finally:
        run.stop()
        if terminal:
            # A machine that was switched off could not tidy up.
            termios.tcsetattr(0, termios.TCSADRAIN, terminal)
        if slot:
            slot.close()
    return status


if __name__ == "__main__":
    sys.exit(main())
