#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Sockets that the kernel carries over RDMA, between two machines: all that one end sends comes back, and is compared.

usage: sockets.py rds|smc echo ADDRESS
       sockets.py rds|smc ask OWN-ADDRESS PEER-ADDRESS
       sockets.py eid NAME

"eid" gives this machine a name in common with its peers, which SMC-R version 2, the one for RoCEv2, asks for.
"""

import ctypes
import os
import random
import socket
import struct
import sys

PORT = 4711
TIMEOUT = 30
AF_SMC = 43
RDS_SIZES = [1, 100, 4096, 5000, 65536, 100000]
# Where packets are lost, enough that some are.
RDS_ROUNDS = 10 if os.environ.get("HROCE_LOSS") else 1
SMC_SIZES = [1, 4096, 65536, 1 << 20, 8 << 20]

NETLINK_GENERIC = 16
GENL_ID_CTRL = 16
CTRL_CMD_GETFAMILY = 3
CTRL_ATTR_FAMILY_ID = 1
CTRL_ATTR_FAMILY_NAME = 2
SMC_NETLINK_ADD_UEID = 10
SMC_NLA_EID_TABLE_ENTRY = 1
SMC_MAX_EID_LEN = 32


def say(word):
    """To the script that started this."""
    print(word, flush=True)


def data_of(size):
    return random.Random(size).randbytes(size)


def rds_socket(address):
    sock = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET, 0)
    sock.settimeout(TIMEOUT)
    sock.bind((address, PORT))
    return sock


def rds_echo(address):
    sock = rds_socket(address)
    say("ready")
    for _ in RDS_SIZES * RDS_ROUNDS:
        message, peer = sock.recvfrom(max(RDS_SIZES) + 1)
        sock.sendto(message, peer)


def rds_ask(own, peer):
    sock = rds_socket(own)
    for size in RDS_SIZES * RDS_ROUNDS:
        sock.sendto(data_of(size), (peer, PORT))
        if sock.recvfrom(size + 1)[0] != data_of(size):
            sys.exit(f"other data came back than the {size} bytes that were sent")


def smc_socket():
    """Python does not know the family; addresses are those of TCP."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.socket(AF_SMC, socket.SOCK_STREAM, 0)
    if descriptor < 0:
        sys.exit(f"no socket of AF_SMC: errno {ctypes.get_errno()}")
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fileno=descriptor)
    sock.settimeout(TIMEOUT)
    return sock


def receive(sock, size):
    data = bytearray()
    while len(data) < size:
        piece = sock.recv(size - len(data))
        if not piece:
            sys.exit(f"closed after {len(data)} of {size} bytes")
        data += piece
    return data


def smc_echo(address):
    listener = smc_socket()
    listener.bind((address, PORT))
    listener.listen(1)
    say("ready")
    sock, _ = listener.accept()
    sock.settimeout(TIMEOUT)
    for size in SMC_SIZES:
        sock.sendall(receive(sock, size))
    sock.recv(1)


def smc_ask(own, peer):
    """The connection stays for who wants to look at it until standard input ends."""
    sock = smc_socket()
    sock.bind((own, 0))
    sock.connect((peer, PORT))
    for size in SMC_SIZES:
        sock.sendall(data_of(size))
        if receive(sock, size) != data_of(size):
            sys.exit(f"other data came back than the {size} bytes that were sent")
    say("compared")
    sys.stdin.read()


def request(sock, kind, command, attribute, value):
    """One request of generic netlink; returns what comes back."""
    value = struct.pack("=HH", 4 + len(value), attribute) + value
    body = struct.pack("=BBH", command, 1, 0) + value + b"\0" * (-len(value) % 4)
    flags = 1 | 4 # NLM_F_REQUEST, NLM_F_ACK
    sock.send(struct.pack("=IHHII", 16 + len(body), kind, flags, 1, 0) + body)
    return sock.recv(65536)


def family_id(sock, name):
    reply = request(sock, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, name + b"\0")
    sock.recv(65536) # the acknowledgement
    rest = reply[20:]
    while rest:
        length, kind = struct.unpack_from("=HH", rest)
        if kind == CTRL_ATTR_FAMILY_ID:
            return struct.unpack_from("=H", rest, 4)[0]
        rest = rest[(length + 3) & ~3:]
    sys.exit("no such family of generic netlink")


def eid(name):
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
    family = family_id(sock, b"SMC_GEN_NETLINK")
    reply = request(sock, family, SMC_NETLINK_ADD_UEID, SMC_NLA_EID_TABLE_ENTRY,
                    name.encode().ljust(SMC_MAX_EID_LEN) + b"\0")
    error = struct.unpack_from("=i", reply, 16)[0]
    if error:
        sys.exit(f"SMC_NETLINK_ADD_UEID: error {error}")


COMMANDS = {
    ("rds", "echo"): rds_echo, ("rds", "ask"): rds_ask,
    ("smc", "echo"): smc_echo, ("smc", "ask"): smc_ask,
}

if sys.argv[1] == "eid":
    eid(sys.argv[2])
else:
    COMMANDS[tuple(sys.argv[1:3])](*sys.argv[3:])
