#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""An XDP program that belongs to somebody else: stays until it is told to go.

usage: xdp_other.py NETDEV on|generic|receiver|off

It passes everything; "receiver" hands all to links, as a generic program.
"""
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../user/tool"))
from hroce_tool import xdp  # noqa: E402

XDP_PASS = 2
XDP_FLAGS_SKB_MODE = 1 << 1
BPF_MOV_R0 = 0xb7

netdev, switch = sys.argv[1:]
libbpf = xdp.Libbpf()
if switch == "off":
    program = -1
elif switch == "receiver":
    program = libbpf.load_receiver()
else:
    program = libbpf.load(b"other", [xdp.Insn(BPF_MOV_R0, 0, 0, XDP_PASS), xdp.Insn(xdp.BPF_JMP_EXIT)])
libbpf.attach(socket.if_nametoindex(netdev), program,
              XDP_FLAGS_SKB_MODE if switch in ("generic", "receiver") else xdp.XDP_FLAGS_DRV_MODE)
