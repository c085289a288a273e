# SPDX-License-Identifier: BSD-2-Clause
"""A scripted SRP target over software iWARP with the disk of hostile_target.py that tells one
lie."""

import struct

import hostile_target as honest
from hostile_rdma import OPTIONS, Liar, Read, RdmaPeer, Send, Write, images, mpa_reply
from rdma_raw import ENHANCED
from srp_raw import (CMD, CRED_RSP, AER_RSP, DIRECT, DIUNDER, I_LOGOUT, IMMEDIATE_SUPPORTED, INDIRECT, LOGIN_RSP, RSP, RSPVALID, TSK_MGMT, Iu)

PORT = "0002c90300000001:0002c90300000001"
LISTED = b"ib.0002c903000000010002c90300000001"
LIMIT, IT_IU, TI_IU = 64, 8300, 512


class Response(Iu):
    """RSP and what follows it."""

    def __init__(self, tag, more=b"", **fields):
        super().__init__(opcode=RSP, size=36, tag=tag, delta=1, **fields)
        self.more = more

    def message(self):
        return bytes(self.raw) + self.more


class Unit(Iu):
    def message(self):
        return bytes(self.raw)


def entries(iu):
    """The descriptors of a command's data: (address, key, length) each; None: it has none."""
    kind = iu.buf_fmt >> 4 or iu.buf_fmt & 15
    if kind == DIRECT:
        return [struct.unpack(">QII", iu.raw[48:64])]
    if kind == INDIRECT:
        count = iu.out_count or iu.in_count
        return [struct.unpack(">QII", iu.raw[68 + 16 * i:84 + 16 * i]) for i in range(count)]
    return None


def page(names=LISTED + b" 127.0.0.1:5555\0", version=1, length=None, flags=0, code=0xc0,
         signature=b"farblock"):
    """The list of targets."""
    body = signature + bytes((version, flags, 0, 0)) + names
    return struct.pack(">BBH", 0x3f, code, len(body) if length is None else length) + body


class SrpTarget(Liar, honest.Listener):
    """lie(target, iu, actions): iu None: the login, actions are [bytes of the reply of MPA]."""

    options = OPTIONS

    def url(self, verb):
        where = f"srp://127.0.0.1:{self.port}"
        return where if verb == "discover" else f"{where}/{PORT}" + ("" if verb == "luns" else "/0")

    def serve(self, connection):
        try:
            with connection:
                peer = RdmaPeer(connection)
                peer.accept(self.changed(None, [mpa_reply(self.accepted(peer.private).message())],
                                         list)[0])
                while True:
                    iu = Unit(peer.message())
                    for action in self.changed(iu, self.honest(iu), images):
                        action.run(peer)
                    if iu.opcode == I_LOGOUT:
                        return
        except OSError:
            pass  # the initiator has closed the connection

    @staticmethod
    def accepted(private):
        iu = Unit(opcode=LOGIN_RSP, size=52, delta=LIMIT, max_it_iu_len=IT_IU, max_ti_iu_len=TI_IU,
                  formats=6, rsp_flags=IMMEDIATE_SUPPORTED if private[10] & 0x80 else 0)
        iu.raw[8:16] = private[:8]
        return iu

    def honest(self, iu):
        if iu.opcode == CMD:
            return self.command(iu)
        if iu.opcode == TSK_MGMT:
            return [Send(Response(iu.tag, bytes(4), flags=RSPVALID, rsp_len=4))]
        if iu.opcode not in (CRED_RSP, AER_RSP, I_LOGOUT):
            raise OSError("not an IU of an initiator")
        return []

    def command(self, iu):
        memory = entries(iu)
        if iu.buf_fmt >> 4:
            reads = [Read(key, va, length) for va, key, length in memory or ()]
            return reads + [Send(Response(iu.tag))]
        expected = sum(length for _, _, length in memory or ())
        data = self.data(iu, expected)[:expected]
        actions, rest = [], data
        for va, key, length in memory or ():
            if rest:
                actions.append(Write(key, va, rest[:length]))
            rest = rest[length:]
        left = expected - len(data)
        return actions + [Send(Response(iu.tag, flags=DIUNDER if left else 0, in_residual=left))]

    @staticmethod
    def data(iu, expected):
        if iu.cdb[0] == honest.INQUIRY and iu.cdb[1] & 1 and iu.cdb[2] == 0xc0:
            return page()
        head = bytes(20) + struct.pack(">I", expected) + bytes(8) + iu.cdb
        return honest.data_for(head)


# --- lies ---

def login(change, flags=ENHANCED):
    """change(iu) of the LOGIN_RSP; flags of MPA."""
    def lie(_, iu, actions):
        if iu is not None:
            return None
        accepted = Unit(actions[0][24:])
        raw = change(accepted)
        return [mpa_reply(raw if isinstance(raw, bytes) else accepted.message(), flags)]
    return lie


def reply(frame):
    """Another reply of MPA."""
    def lie(_, iu, __):
        return None if iu is not None else [frame]
    return lie


def to(cdb_opcodes, change):
    """change(iu, actions) of the answer to these SCSI commands; the actions are the honest ones,
    the last one sends the RSP."""
    def lie(_, iu, actions):
        if iu is None or iu.opcode != CMD or iu.cdb[0] not in cdb_opcodes:
            return None
        return change(iu, actions)
    return lie


def rsp(cdb_opcodes, more=b"", **fields):
    """Other fields of the RSP, and bytes behind it."""
    def change(_, actions):
        unit = actions[-1].parts[0]
        for item in fields.items():
            unit.put(*item)
        unit.more = more or unit.more
    return to(cdb_opcodes, change)


def instead(cdb_opcodes, *messages):
    """These messages, before the honest answer; None: the honest answer, which else does not
    come."""
    def change(iu, actions):
        made = []
        for message in messages:
            made += actions if message is None else [
                message(iu) if callable(message) else Send(message)]
        return made
    return to(cdb_opcodes, change)


def lists(data):
    """Another list of targets."""
    def lie(_, iu, actions):
        if iu is None or iu.opcode != CMD or not iu.cdb[1] & 1 or iu.cdb[2] != 0xc0:
            return None
        va, key, length = entries(iu)[0]
        sent = data[:length]
        return [Write(key, va, sent), Send(Response(iu.tag, flags=DIUNDER,
                                                    in_residual=length - len(sent)))]
    return lie

