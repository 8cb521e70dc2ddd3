# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""`hroce cc`: a BPF program that controls congestion, in place of a control of the module.

libbpf before 1.4 cannot fill tables of modules, so this reads the object file. It takes what needs no relocation:
neither maps nor functions that are not inlined. A link in the file system of BPF keeps the program.
"""
import ctypes
import errno
import json
import os
import platform
import struct
from dataclasses import dataclass

from .link import fail
from .xdp import Insn, Libbpf

PIN = "/sys/fs/bpf/hroce_cc"
SECTION = "struct_ops/"
TABLE = b"hroce_cc_ops"
VALUE = b"bpf_struct_ops_" + TABLE

# linux/bpf.h and linux/btf.h
BPF_MAP_CREATE = 0
BPF_MAP_TYPE_STRUCT_OPS = 26
BPF_PROG_TYPE_STRUCT_OPS = 27
BPF_STRUCT_OPS = 44
BPF_F_LINK = 1 << 13
BPF_F_VTYPE_BTF_OBJ_FD = 1 << 15
BTF_KIND_STRUCT = 4
NR_BPF = {"x86_64": 321, "aarch64": 280, "riscv64": 280, "loongarch64": 280, "ppc64le": 361}

# elf.h
EM_BPF = 247
SHT_REL = 9


class BtfType(ctypes.Structure):
    """struct btf_type; of a struct, its members follow"""
    _fields_ = [("name", ctypes.c_uint32), ("info", ctypes.c_uint32), ("size", ctypes.c_uint32)]


class BtfMember(ctypes.Structure):
    """struct btf_member; no struct here has bit-fields"""
    _fields_ = [("name", ctypes.c_uint32), ("type", ctypes.c_uint32), ("offset", ctypes.c_uint32)]


class MapAttr(ctypes.Structure):
    """union bpf_attr of BPF_MAP_CREATE"""
    _fields_ = [("type", ctypes.c_uint32), ("key_size", ctypes.c_uint32), ("value_size", ctypes.c_uint32),
                ("max_entries", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("inner_map_fd", ctypes.c_uint32),
                ("numa_node", ctypes.c_uint32), ("name", ctypes.c_char * 16), ("ifindex", ctypes.c_uint32),
                ("btf_fd", ctypes.c_uint32), ("btf_key_type_id", ctypes.c_uint32),
                ("btf_value_type_id", ctypes.c_uint32), ("value_type", ctypes.c_uint32), ("extra", ctypes.c_uint64),
                ("value_btf_fd", ctypes.c_int32)]


def programs(path):
    """{member: instructions} of an object file, or ValueError"""
    with open(path, "rb") as file:
        elf = file.read()
    try:
        if elf[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", elf, 0x12)[0] != EM_BPF:
            raise ValueError("is no object file for BPF: use clang -target bpf")
        at, = struct.unpack_from("<Q", elf, 0x28)
        size, count, names = struct.unpack_from("<HHH", elf, 0x3a)
        # Name, type, flags, address, offset, size, link, what a relocation is for, alignment, size of an entry
        sections = [struct.unpack_from("<IIQQQQIIQQ", elf, at + size * i) for i in range(count)]
        found, moved = {}, {section[7] for section in sections if section[1] == SHT_REL}
        for i, section in enumerate(sections):
            name = elf[sections[names][4] + section[0]:].split(b"\0", 1)[0].decode()
            if not name.startswith(SECTION):
                continue
            if i in moved:
                raise ValueError(f"has a map, or calls a function that is not inlined, in {name}: that takes a loader "
                                 "with libbpf 1.4 or newer")
            code = elf[section[4]:section[4] + section[5]]
            found[name[len(SECTION):]] = [Insn.from_buffer_copy(code, at) for at in range(0, len(code), 8)]
    except (struct.error, IndexError, UnicodeDecodeError):
        raise ValueError("is no complete object file") from None
    if not found:
        raise ValueError(f"has no program: its functions are in sections {SECTION}NAME")
    return found


@dataclass
class Table:
    """A struct of the module's BTF."""
    type: int
    size: int
    # Names and their offsets, in bytes.
    members: dict

    @classmethod
    def find(cls, libbpf, btf, name):
        which = libbpf.call("btf__find_by_name_kind", btf, name, BTF_KIND_STRUCT)
        kind = libbpf.call("btf__type_by_id", btf, which)
        head = BtfType.from_address(kind)
        members = (BtfMember * (head.info & 0xffff)).from_address(kind + ctypes.sizeof(head))
        return cls(which, head.size, {ctypes.string_at(libbpf.call("btf__name_by_offset", btf, member.name)).decode():
                                      member.offset // 8 for member in members})


class StructOps(Libbpf):
    """With what struct_ops of modules take."""

    def __init__(self):
        super().__init__()
        for name in ("btf__type_by_id", "btf__name_by_offset", "btf__new_empty"):
            getattr(self.library, name).restype = ctypes.c_void_p

    def any_btf(self):
        """The kernel wants the BTF of whoever makes a map, and does not look into it."""
        btf = ctypes.c_void_p(self.call("btf__new_empty"))
        self.call("btf__add_int", btf, b"int", ctypes.c_size_t(4), 0)
        self.call("btf__load_into_kernel", btf)
        return self.call("btf__fd", btf)

    def create_map(self, **fields):
        attr = MapAttr(type=BPF_MAP_TYPE_STRUCT_OPS, key_size=4, max_entries=1,
                       flags=BPF_F_LINK | BPF_F_VTYPE_BTF_OBJ_FD, name=b"hroce_cc", btf_fd=self.any_btf(), **fields)
        machine = platform.machine()
        if machine not in NR_BPF:
            raise OSError(errno.ENOSYS, f"not on {machine}, but on {', '.join(NR_BPF)}")
        fd = ctypes.CDLL(None, use_errno=True).syscall(NR_BPF[machine], BPF_MAP_CREATE, ctypes.byref(attr),
                                                       ctypes.sizeof(attr))
        if fd < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return fd

    def register(self, code):
        """The descriptor of a link. As long as it is there, the programs of CODE, as of programs(), control congestion."""
        btf_fd, which = self.module_btf(b"hroce")
        btf = self.parsed_btf(which)
        try:
            table, value = (Table.find(self, btf, name) for name in (TABLE, VALUE))
        except FileNotFoundError:
            raise OSError(errno.EOPNOTSUPP, "neither this module nor kernels before 6.11 let a program do that") from None
        members = list(table.members)
        filled = bytearray(value.size)
        for name, instructions in code.items():
            if name not in members:
                raise OSError(errno.ENOENT, f"there is no {name} to fill, but: {', '.join(members)}")
            fd = self.load_as(BPF_PROG_TYPE_STRUCT_OPS, name.encode(), instructions, attach_btf_id=table.type,
                              attach_btf_obj_fd=btf_fd, expected_attach_type=members.index(name))
            struct.pack_into("=Q", filled, value.members["data"] + table.members[name], fd)
        table_fd = self.create_map(value_size=value.size, value_type=value.type, value_btf_fd=btf_fd)
        try:
            self.call("bpf_map_update_elem", table_fd, ctypes.byref(ctypes.c_uint32(0)), bytes(filled),
                      ctypes.c_uint64(0))
        except OSError as why:
            raise OSError(why.errno, f"{why.strerror}: it must have measured") from None
        return self.call("bpf_link_create", table_fd, 0, BPF_STRUCT_OPS, None)


HINTS = {
    errno.EPERM: "only root may",
    errno.EBUSY: "another program controls congestion",
}


def registered():
    """Only root may look: others get an OSError."""
    try:
        os.stat(PIN)
    except FileNotFoundError:
        return False
    return True


def switch_on(path):
    """What went wrong, or ""."""
    if registered():
        return "there is one already: take it away with hroce cc off"
    if not os.path.ismount(os.path.dirname(PIN)):
        return f"its file system is missing: mount -t bpf bpf {os.path.dirname(PIN)}"
    code = programs(path)
    libbpf = StructOps()
    libbpf.call("bpf_obj_pin", libbpf.register(code), PIN.encode())
    return ""


def switch_off():
    """Not by the removal of the file alone, as that takes effect later."""
    libbpf = Libbpf()
    libbpf.call("bpf_link_detach", libbpf.call("bpf_obj_get", PIN.encode()))
    os.unlink(PIN)


def main(options):
    try:
        if options.file == "off":
            if registered():
                switch_off()
        elif options.file:
            wrong = switch_on(options.file)
            if wrong:
                return fail(wrong)
        state = "on" if registered() else "off"
    except ValueError as why:
        return fail(f"{options.file} {why}")
    except OSError as why:
        # The verifier says EACCES, too, and why.
        hint = "only root may" if why.filename == PIN else HINTS.get(why.errno)
        return fail(f"{why.filename or options.file}: {why.strerror or why}" + (f": {hint}" if hint else ""))
    print(json.dumps({"cc": state}) if options.json else state)
    return 0
