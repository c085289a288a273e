# SPDX-License-Identifier: BSD-2-Clause
"""A scripted iSER target over software iWARP with the disk of hostile_target.py that tells one
lie."""

import struct

import iscsi_raw as raw
from hostile_rdma import OPTIONS, Liar, Read, RdmaPeer, Send, Write, images, mpa_reply
from hostile_target import STATUS, Target
from iser_raw import iser_header

CM = bytes((0x80, 0, 0, 0))  # no zero based addresses; it invalidates
UNDERFLOW = 0x02


class Message(raw.Pdu):
    """A PDU as it stands in a message."""

    def message(self):
        return bytes(self.bhs) + self.ahs + self.data


def message(pdu):
    made = Message()
    made.bhs, made.ahs, made.data = bytearray(pdu.bhs), pdu.ahs, pdu.data
    return made


class Request(raw.Pdu):
    """A PDU of the initiator; the memory of its command: (STag, address)."""

    def __init__(self, whole):
        super().__init__()
        self.bhs[:] = whole[28:76]
        self.body = whole[76:76 + int.from_bytes(whole[33:36], "big")]
        write_stag, write_at, read_stag, read_at = struct.unpack(">IQIQ", whole[4:28])
        self.out, self.into = (write_stag, write_at), (read_stag, read_at)


class IserTarget(Liar, Target):
    """lie(target, request, actions): request None: the connect, actions are [bytes of the reply of
    MPA]."""

    options = OPTIONS

    def url(self, verb):
        return super().url(verb).replace("iscsi://", "iser://")

    def serve(self, connection):
        numbers = {"stat_sn": 1}
        try:
            with connection:
                peer = RdmaPeer(connection)
                peer.accept(self.changed(None, [mpa_reply(CM)], list)[0])
                while True:
                    request = Request(peer.message())
                    answers = self.numbered(request, request.body, numbers)
                    actions = [a for pdu in answers for a in self.actions(pdu)]
                    for action in self.changed(request, actions, images):
                        action.run(peer)
        except OSError:
            pass  # the initiator has closed the connection

    @staticmethod
    def actions(pdu):
        return getattr(pdu, "moves", []) + [Send(iser_header(), message(pdu))]

    @staticmethod
    def agreed(body):
        lengths = {"InitiatorRecvDataSegmentLength": "8192", "TargetRecvDataSegmentLength": "8192"}
        if b"SessionType=Discovery" in body:
            return lengths
        return {"TargetPortalGroupTag": "1", "RDMAExtensions": "Yes", **lengths,
                "InitialR2T": "Yes", "ImmediateData": "Yes"}

    @staticmethod
    def command(request, head, body):
        """The response, once the data is moved."""
        answer = Target.command(request, head, body)[0]
        expected = int.from_bytes(head[20:24], "big")
        flags = answer.flags & ~STATUS if answer.opcode == raw.DATA_IN else raw.F
        response = raw.Pdu(raw.RESPONSE, flags, itt=request.itt)
        response.moves = []
        if answer.opcode == raw.RESPONSE:
            return [answer]
        if answer.opcode == raw.DATA_IN:
            response.put("residual", expected - len(answer.data))
            response.moves = [Write(*request.into, answer.data)]
        elif not body:
            response.moves = [Read(*request.out, expected)]
        return [response]


# --- lies ---

def reply(frame):
    """Another reply of MPA."""
    def lie(_, request, __):
        return None if request is not None else [frame]
    return lie


def of(opcode, change):
    """change(send): the message with each answer of this opcode; its parts are the iSER header and
    the PDU."""
    def lie(_, request, actions):
        for action in actions if request is not None else ():
            if isinstance(action, Send) and action.parts[1].opcode == opcode:
                change(action)
    return lie


def pdu(opcode, change):
    """change(pdu): each answer with this opcode."""
    return of(opcode, lambda send: change(send.parts[1]))


def put(opcode, **fields):
    return pdu(opcode, lambda answer: [answer.put(*item) for item in fields.items()])


def header(opcode, **bytes_at):
    """Other bytes of the iSER header, by their offset (at0=...)."""
    def change(send):
        made = bytearray(send.parts[0])
        for name, value in bytes_at.items():
            made[int(name[2:])] = value
        send.parts = (bytes(made), send.parts[1])
    return of(opcode, change)


def instead(cdb_opcodes, *made):
    """The answer to these SCSI commands: actions, or functions that make one of the request and the
    honest response; None: the honest answer."""
    def lie(_, request, actions):
        if request is None or request.opcode != raw.COMMAND or request.bhs[32] not in cdb_opcodes:
            return None
        honest = actions[-1].parts[1]
        out = []
        for make in made:
            out += actions if make is None else [
                make(request, honest) if callable(make) else make]
        return out
    return lie


def sends(opcode, flags=raw.F, data=b"", head=iser_header(), stag=None, **fields):
    """A PDU with the numbers of the honest response."""
    def made(request, honest):
        answer = Message(opcode, flags, data=data, **{"itt": request.itt, **fields})
        for field in ("stat_sn", "exp_cmd_sn", "max_cmd_sn"):
            if field not in fields:
                answer.put(field, getattr(honest, field))
        return Send(head, answer, stag=stag(request) if callable(stag) else stag)
    return made

