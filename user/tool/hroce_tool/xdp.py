# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""`hroce xdp`: a program on the netdev of a link that hands frames over before they cost an sk_buff.

The program is one call of the kernel module. libbpf, which ip(8) uses as well, loads and attaches it.
"""
import ctypes
import errno
import json
import os

from . import device
from .finding import command
from .link import fail

PROGRAM = b"hroce_xdp"
FUNCTION = b"hroce_xdp_receive"

# linux/bpf.h, linux/btf.h and linux/if_link.h
BPF_PROG_TYPE_XDP = 6
BPF_F_XDP_HAS_FRAGS = 1 << 5
BPF_PSEUDO_KFUNC_CALL = 2
BPF_JMP_CALL = 0x85
BPF_JMP_EXIT = 0x95
BTF_KIND_FUNC = 12
XDP_FLAGS_UPDATE_IF_NOEXIST = 1 << 0
XDP_FLAGS_DRV_MODE = 1 << 2
XDP_FLAGS_REPLACE = 1 << 4


class Insn(ctypes.Structure):
    """struct bpf_insn"""
    _fields_ = [("code", ctypes.c_uint8), ("regs", ctypes.c_uint8), ("off", ctypes.c_int16), ("imm", ctypes.c_int32)]


class BtfInfo(ctypes.Structure):
    """struct bpf_btf_info"""
    _fields_ = [("btf", ctypes.c_uint64), ("btf_size", ctypes.c_uint32), ("id", ctypes.c_uint32),
                ("name", ctypes.c_uint64), ("name_len", ctypes.c_uint32), ("kernel_btf", ctypes.c_uint32)]


class ProgInfo(ctypes.Structure):
    """The beginning of struct bpf_prog_info"""
    _fields_ = [("type", ctypes.c_uint32), ("id", ctypes.c_uint32), ("tag", ctypes.c_uint8 * 8),
                ("jited_len", ctypes.c_uint32), ("xlated_len", ctypes.c_uint32), ("jited", ctypes.c_uint64),
                ("xlated", ctypes.c_uint64), ("load_time", ctypes.c_uint64), ("uid", ctypes.c_uint32),
                ("nr_maps", ctypes.c_uint32), ("maps", ctypes.c_uint64), ("name", ctypes.c_char * 16)]


class LoadOpts(ctypes.Structure):
    """struct bpf_prog_load_opts; it may be shorter than the library's"""
    _fields_ = [("sz", ctypes.c_size_t), ("attempts", ctypes.c_int), ("expected_attach_type", ctypes.c_int),
                ("prog_btf_fd", ctypes.c_uint32), ("prog_flags", ctypes.c_uint32), ("prog_ifindex", ctypes.c_uint32),
                ("kern_version", ctypes.c_uint32), ("attach_btf_id", ctypes.c_uint32),
                ("attach_prog_fd", ctypes.c_uint32), ("attach_btf_obj_fd", ctypes.c_uint32),
                ("fd_array", ctypes.POINTER(ctypes.c_int)), ("func_info", ctypes.c_void_p),
                ("func_info_cnt", ctypes.c_uint32), ("func_info_rec_size", ctypes.c_uint32),
                ("line_info", ctypes.c_void_p), ("line_info_cnt", ctypes.c_uint32),
                ("line_info_rec_size", ctypes.c_uint32), ("log_level", ctypes.c_uint32),
                ("log_size", ctypes.c_uint32), ("log_buf", ctypes.c_char_p)]


class AttachOpts(ctypes.Structure):
    """struct bpf_xdp_attach_opts"""
    _fields_ = [("sz", ctypes.c_size_t), ("old_prog_fd", ctypes.c_int), ("pad", ctypes.c_int)]


class Libbpf:
    """Calls raise OSError with a negative result's errno."""

    def __init__(self):
        library = ctypes.CDLL("libbpf.so.1", use_errno=True)
        # Or else it writes on standard error.
        library.libbpf_set_print(None)
        self.library = library
        for name in ("btf__load_vmlinux_btf", "btf__load_from_kernel_by_id_split"):
            getattr(library, name).restype = ctypes.c_void_p

    def call(self, name, *arguments):
        result = getattr(self.library, name)(*arguments)
        if result is None or isinstance(result, int) and result < 0:
            number = ctypes.get_errno() if result in (None, -1) else -result
            raise OSError(number, os.strerror(number))
        return result

    def info(self, fd, info):
        size = ctypes.c_uint32(ctypes.sizeof(info))
        self.call("bpf_obj_get_info_by_fd", fd, ctypes.byref(info), ctypes.byref(size))
        return info

    def module_btf(self, module):
        """(descriptor, identifier) of the BTF of a module."""
        which = ctypes.c_uint32(0)
        while True:
            try:
                self.call("bpf_btf_get_next_id", which, ctypes.byref(which))
            except FileNotFoundError:
                raise OSError(errno.ENOENT, f"the module {module.decode()} has no BTF: build it with pahole installed, "
                              "for a kernel with CONFIG_DEBUG_INFO_BTF_MODULES") from None
            fd = self.call("bpf_btf_get_fd_by_id", which)
            name = ctypes.create_string_buffer(64)
            self.info(fd, BtfInfo(name=ctypes.addressof(name), name_len=len(name)))
            if name.value == module:
                return fd, which.value
            os.close(fd)

    def parsed_btf(self, which):
        """libbpf's object for the BTF of a module, by its identifier."""
        base = ctypes.c_void_p(self.call("btf__load_vmlinux_btf"))
        return ctypes.c_void_p(self.call("btf__load_from_kernel_by_id_split", which, base))

    def load(self, name, code, btf_fd=0):
        """The descriptor of an XDP program of these instructions. Calls with offset 1 are to functions in BTF_FD."""
        return self.load_as(BPF_PROG_TYPE_XDP, name, code, prog_flags=BPF_F_XDP_HAS_FRAGS,
                            fd_array=(ctypes.c_int * 2)(0, btf_fd))

    def load_as(self, kind, name, code, **options):
        """The descriptor of a program of these instructions. OPTIONS are fields of LoadOpts."""
        # libbpf asks for the log if the kernel refuses the program.
        log = ctypes.create_string_buffer(1 << 16)
        options = LoadOpts(sz=ctypes.sizeof(LoadOpts), log_size=len(log), log_buf=ctypes.addressof(log), **options)
        try:
            return self.call("bpf_prog_load", kind, name, b"GPL", (Insn * len(code))(*code),
                             ctypes.c_size_t(len(code)), ctypes.byref(options))
        except OSError as why:
            said = [line for line in log.value.decode(errors="replace").splitlines()
                    if line.strip() and not line.startswith(("processed ", "verification "))]
            raise OSError(why.errno, "; ".join([why.strerror] + said[-1:])) from None

    def load_receiver(self):
        """The same of the program that is one call: r0 = FUNCTION(r1); exit."""
        fd, which = self.module_btf(b"hroce")
        try:
            btf = self.parsed_btf(which)
            function = self.call("btf__find_by_name_kind", btf, FUNCTION, BTF_KIND_FUNC)
            call = Insn(BPF_JMP_CALL, BPF_PSEUDO_KFUNC_CALL << 4, 1, function)
            return self.load(PROGRAM, [call, Insn(BPF_JMP_EXIT)], fd)
        finally:
            os.close(fd)

    def attached(self, ifindex):
        """(descriptor, name) of the program on a netdev, or (None, "")."""
        which = ctypes.c_uint32(0)
        self.call("bpf_xdp_query_id", ifindex, 0, ctypes.byref(which))
        if not which.value:
            return None, ""
        fd = self.call("bpf_prog_get_fd_by_id", which)
        return fd, self.info(fd, ProgInfo()).name.decode(errors="replace")

    def attach(self, ifindex, fd, flags, old=None):
        options = AttachOpts(sz=ctypes.sizeof(AttachOpts), old_prog_fd=old or 0)
        self.call("bpf_xdp_attach", ifindex, fd, flags, ctypes.byref(options))


def places(netdev):
    """The netdevs whose programs get the frames of this one. A bond passes its program on to its ports."""
    if netdev.kind not in ("vlan", "bridge"):
        return [netdev]
    return [place for below in netdev.below() for place in places(below)]


def cards(netdev):
    """The netdevs that run the program of this one."""
    return netdev.below() if netdev.kind == "bond" else [netdev]


def stripping(netdev):
    """What to do, or "" if the netdev leaves VLAN tags where they are."""
    names = [name for name in ("rx-vlan-offload", "rx-vlan-stag-hw-parse") if netdev.features().get(name)]
    return command("ethtool", "-K", netdev.name, *(word for name in names for word in (name, "off"))) if names else ""


def switch_on(libbpf, netdev):
    """What went wrong, or ""."""
    fd, name = libbpf.attached(netdev.ifindex)
    if name == PROGRAM.decode():
        return ""
    if fd is not None:
        return (f"{netdev.name} has the XDP program {name or 'of somebody else'}: take it away, "
                f"or let it call {FUNCTION.decode()}() (cards.rst)")
    for card in cards(netdev):
        repair = stripping(card)
        if repair:
            return f"{card.name} takes VLAN tags off before the program could see them: {repair}"
    libbpf.attach(netdev.ifindex, libbpf.load_receiver(), XDP_FLAGS_DRV_MODE | XDP_FLAGS_UPDATE_IF_NOEXIST)
    return ""


def switch_off(libbpf, netdev):
    fd, name = libbpf.attached(netdev.ifindex)
    if name == PROGRAM.decode():
        libbpf.attach(netdev.ifindex, -1, XDP_FLAGS_DRV_MODE | XDP_FLAGS_REPLACE, fd)
    elif fd is not None:
        return f"the XDP program on {netdev.name} is not hroce's: it stays"
    return ""


HINTS = {
    errno.EOPNOTSUPP: "its driver has no XDP, or not with this MTU or these features: see dmesg",
    errno.EPERM: "only root may",
    errno.EBUSY: "another program came first",
}


def told(name, why, hint=None):
    hint = hint or HINTS.get(why.errno)
    return f"{name}: {why.strerror or why}" + (f": {hint}" if hint else "")


def switch(change, netdev):
    """What went wrong, or ""."""
    try:
        return change(Libbpf(), netdev)
    except OSError as why:
        hint = None
        if netdev.kind == "bond" and why.errno == errno.EOPNOTSUPP:
            hint = "a mode of bonds that has no XDP, or a port of it has none, or has a program: see dmesg"
        return told(netdev.name, why, hint)


def set_on(link, on):
    """What went wrong, a list. Of a bridge, ports that can have no program are left out."""
    netdev = link.port_netdev()
    if not netdev:
        return [f"{link.name} has no netdev in this network namespace"]
    above = [other.name for other in link.netdevs() if other.name != netdev.name]
    if on and above and netdev.kind == "bridge":
        return [f"{above[0]} is a VLAN of a bridge: its frames are left to the bridge"]
    found = places(netdev)
    if not found:
        return [f"{netdev.name} has no netdev below it in this network namespace"]
    wrong = [switch(switch_on if on else switch_off, place) for place in found]
    wrong = [text for text in wrong if text]
    if len(wrong) == len(found):
        return wrong
    for text in wrong:
        fail(text)
    return []


def programs(link):
    """The names of the netdevs that have the program."""
    netdev = link.port_netdev()
    return [place.name for place in (places(netdev) if netdev else [])
            if Libbpf().attached(place.ifindex)[1] == PROGRAM.decode()]


def main(options):
    link = next((link for link in device.links() if link.name == options.name), None)
    if not link:
        return fail(f"no link {options.name}", 2)
    if options.switch:
        wrong = set_on(link, options.switch == "on")
        if wrong:
            return fail("; ".join(wrong))
    try:
        names = programs(link)
    except OSError as why:
        return fail(told(link.name, why))
    state = "on" if names else "off"
    print(json.dumps({"link": link.name, "xdp": state, "netdevs": names}) if options.json else state)
    return 0
