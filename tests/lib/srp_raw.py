# SPDX-License-Identifier: BSD-2-Clause
"""SRP as bytes (T10 SRP-r16a): login, information units, buffer descriptors, for a scripted
initiator over iWARP (rdma_raw.py). Immediate data and the layout of the login are those of Linux.

Every IU that arrives is held against the standard and what Linux's ib_srp can bear: nothing
before the first own IU, a request limit that never exceeds what was granted, one request at a
time, known tags, lengths that fit, residuals and sense data that mean something."""

import struct

from link import Closed
from rdma_raw import *  # noqa: F403: tests import everything from here
from rdma_raw import RdmaWire, Refused

LOGIN_REQ, TSK_MGMT, CMD, I_LOGOUT, CRED_RSP, AER_RSP = 0x00, 0x01, 0x02, 0x03, 0x41, 0x42
T_LOGOUT, CRED_REQ, AER_REQ, LOGIN_RSP, RSP, LOGIN_REJ = 0x80, 0x81, 0x82, 0xc0, 0xc1, 0xc2
NAMES = {0: "LOGIN_REQ", 1: "TSK_MGMT", 2: "CMD", 3: "I_LOGOUT", 0x41: "CRED_RSP", 0x42: "AER_RSP",
         0x80: "T_LOGOUT", 0x81: "CRED_REQ", 0x82: "AER_REQ", 0xc0: "LOGIN_RSP", 0xc1: "RSP",
         0xc2: "LOGIN_REJ"}
NO_DATA, DIRECT, INDIRECT, IMMEDIATE = range(4)
SINGLE, MULTI, IMMEDIATE_REQUESTED = 0, 1, 0x80
NO_CHANNEL, TERMINATED, MAINTAINED, IMMEDIATE_SUPPORTED = 0, 1, 2, 0x80
UNABLE, NO_RESOURCES, IU_TOO_LARGE, NO_PORT, BAD_FORMAT, NO_MULTI, CHANNEL_LIMIT = range(
    0x10000, 0x10007)
ABORT_TASK, ABORT_TASK_SET, CLEAR_TASK_SET, LUN_RESET, CLEAR_ACA = 1, 2, 4, 8, 0x40
COMPLETE, INVALID_FIELDS, TMF_UNSUPPORTED, TMF_FAILED = 0, 2, 4, 5
RSPVALID, SNSVALID, DOOVER, DOUNDER, DIOVER, DIUNDER = 1, 2, 4, 8, 0x10, 0x20
SIMPLE, HEAD_OF_QUEUE, ORDERED, ACA = 0, 1, 2, 4
GOOD, CHECK, BUSY, CONFLICT, TASK_SET_FULL, TASK_ABORTED = 0, 2, 8, 0x18, 0x28, 0x40
INVALID_IU, NEW_LOGIN = 2, 4  # of T_LOGOUT

# Name: offset and size. Names share places, as IUs do.
FIELDS = {
    "opcode": (0, 1), "sol_not": (1, 1), "delta": (4, 4), "reason": (4, 4), "buf_fmt": (5, 1),
    "out_count": (6, 1), "in_count": (7, 1), "tag": (8, 8), "max_it_iu_len": (16, 4),
    "flags": (18, 1), "status": (19, 1), "lun": (20, 8), "out_residual": (20, 4),
    "max_ti_iu_len": (20, 4), "in_residual": (24, 4), "formats": (24, 2), "rsp_flags": (26, 1),
    "sense_len": (28, 4), "attr": (29, 1), "function": (30, 1), "add_cdb_len": (31, 1),
    "cdb": (32, 16), "task_tag": (32, 8), "rsp_len": (32, 4)}
SIZES = {T_LOGOUT: 16, CRED_REQ: 16, AER_REQ: 36, RSP: 36}  # at least


def login_request(tag=1, formats=6, flags=SINGLE, it_iu_len=8260, initiator=bytes(16),
                  target=bytes(16), imm_offset=68, opcode=LOGIN_REQ):
    """The private data of a connect by RDMA-CM."""
    return struct.pack(">QHBBI16s16sH6x", tag, formats, flags, opcode, it_iu_len, initiator, target,
                       imm_offset)


def descriptor(va, key, length):
    return struct.pack(">QII", va, key, length)


def lun(number):
    """SAM-5 4.7: the eight bytes of a LUN."""
    return struct.pack(">H6x", number if number < 256 else 0x4000 | number)


class Iu:
    """An IU with named fields."""

    def __init__(self, raw=b"", opcode=None, size=16, **fields):
        self.raw = bytearray(raw or size)
        if opcode is not None:
            self.put("opcode", opcode)
        for name, value in fields.items():
            self.put(name, value)
        self.out = self.data_in = None  # Data of a command

    def put(self, name, value):
        at, size = FIELDS[name]
        self.raw[at:at + size] = value if isinstance(value, (bytes, bytearray)) \
            else (value & (1 << 8 * size) - 1).to_bytes(size, "big")
        return self

    def __getattr__(self, name):
        if name not in FIELDS:
            raise AttributeError(name)
        at, size = FIELDS[name]
        part = bytes(self.raw[at:at + size])
        if name in ("lun", "cdb"):
            return part
        return int.from_bytes(part, "big", signed=name == "delta")

    @property
    def sense_data(self):
        at = 36 + (self.rsp_len if self.opcode == RSP else 0)
        return bytes(self.raw[at:at + self.sense_len])

    @property
    def sense(self):
        """Key, ASC, ASCQ."""
        sense = self.sense_data
        if len(sense) < 8:
            return None
        if sense[0] & 0x7f in (0x72, 0x73):
            return sense[1] & 0xf, sense[2], sense[3]
        return sense[2] & 0xf, sense[12], sense[13]

    @property
    def code(self):
        """Of a task management response or a refused command; None: there is none."""
        return self.raw[39] if self.flags & RSPVALID else None

    def __str__(self):
        return (f"{NAMES.get(self.opcode, '?')} +{len(self.raw)}\n"
                f"      {bytes(self.raw[:160]).hex(' ', 4)}")


class Data:
    """Buffer descriptors of one direction of a command and the memory behind them."""

    def __init__(self, format, descriptors, regions=(), count=0, payload=b"", length=0):
        self.format, self.descriptors, self.regions = format, descriptors, list(regions)
        self.count, self.payload, self.length = count, payload, length

    @property
    def bytes(self):
        return b"".join(bytes(r.data) for r in self.regions)

    @property
    def written(self):
        return sum(r.written for r in self.regions)


NOTHING = Data(NO_DATA, b"")


class SrpWire(RdmaWire):
    """An initiator's end of a channel. The request limit is kept for the test, which may exceed
    it."""

    answers = True  # CRED_REQ and AER_REQ

    def __init__(self, *where, login=None, **options):
        self.login = login if isinstance(login, bytes) else login_request(**(login or {}))
        self.imm_offset = int.from_bytes(self.login[48:50], "big")
        self.limit = self.granted = 0
        self.tag = 0x8000000000000000
        self.sent = {}  # tag: IU without its RSP
        self.has_sent = False
        self.asked = None  # CRED_REQ or AER_REQ that was not answered
        self.asks, self.events = [], []
        super().__init__(*where, private=self.login, **options)

    # --- login ---

    def handshake(self, private):
        super().handshake(private)
        rsp = self.accepted = Iu(self.reply_private)
        if len(rsp.raw) != 52 or rsp.opcode != LOGIN_RSP:
            self.fail(f"not a LOGIN_RSP: {rsp}")
        self.log.append(("<", rsp))
        if rsp.raw[8:16] != private[:8]:
            self.fail("the tag of the login is not echoed")
        if any(rsp.raw[1:4]) or any(rsp.raw[27:]):
            self.fail("reserved bytes are not zero")
        self.limit = self.granted = rsp.delta
        if self.granted < 2:
            self.fail(f"{self.granted} credits: ib_srp needs one for task management")
        if rsp.max_it_iu_len < 64 or rsp.max_ti_iu_len < 40:
            self.fail("IU lengths below the least ones")

    @staticmethod
    def rejection(why):
        """The reason of the LOGIN_REJ in the private data of a refused connect."""
        rej = Iu(why.private)
        if len(rej.raw) != 32 or rej.opcode != LOGIN_REJ:
            raise Closed(f"refused without a LOGIN_REJ: {why.private.hex()}")
        if any(rej.raw[1:4]) or any(rej.raw[16:24]) or any(rej.raw[26:]):
            raise Closed("reserved bytes of the LOGIN_REJ are not zero")
        return rej.reason

    # --- out ---

    def next_tag(self):
        self.tag += 1
        return self.tag

    def send(self, *ius):
        """Sends IUs in one piece; returns the first."""
        out = b""
        for iu in ius:
            self.log.append((">", iu))
            self.has_sent = True
            if iu.opcode in (CRED_RSP, AER_RSP):
                self.asked = None
            else:
                self.limit -= 1
            if iu.opcode in (CMD, TSK_MGMT):
                self.sent[iu.tag] = iu
            out += self.message(bytes(iu.raw))
        self.send_bytes(out)
        return ius[0]

    def memory(self, data, writable=False):
        """A Region that a descriptor names."""
        return self.expose(data, writable, 0x7f0000001000 + 0x100000 * len(self.regions))

    def direct(self, data, writable=False):
        region = self.memory(data, writable)
        return Data(DIRECT, descriptor(region.base, region.stag, len(data)), [region],
                    length=len(data))

    def indirect(self, pieces, writable=False, in_iu=None):
        """A table: a descriptor for each piece, in_iu of them (all) in the IU."""
        regions = [self.memory(piece, writable) for piece in pieces]
        entries = b"".join(descriptor(r.base, r.stag, len(r.data)) for r in regions)
        table = self.memory(entries)
        count = len(pieces) if in_iu is None else in_iu
        length = sum(len(piece) for piece in pieces)
        head = descriptor(table.base, table.stag, len(entries)) + struct.pack(">I", length)
        data = Data(INDIRECT, head + entries[:16 * count], regions, count, length=length)
        data.table = table
        return data

    @staticmethod
    def immediate(data, length=None):
        return Data(IMMEDIATE, struct.pack(">I", len(data) if length is None else length),
                    payload=bytes(data), length=len(data))

    def command(self, cdb, out=NOTHING, data_in=NOTHING, attr=SIMPLE, unit=0, tag=None):
        """A CMD IU."""
        more = cdb[16:] + bytes(-len(cdb[16:]) % 4)
        iu = Iu(opcode=CMD, size=48, buf_fmt=out.format << 4 | data_in.format, out_count=out.count,
                in_count=data_in.count, tag=tag or self.next_tag(), lun=lun(unit), attr=attr,
                add_cdb_len=len(more), cdb=(cdb + bytes(16))[:16])
        iu.raw += more + out.descriptors + data_in.descriptors
        if out.format == IMMEDIATE:
            iu.raw += bytes(max(0, self.imm_offset - len(iu.raw))) + out.payload
        iu.out, iu.data_in = out, data_in
        return iu

    def task_mgmt(self, function, ref=None, unit=0, **fields):
        return Iu(**{"opcode": TSK_MGMT, "size": 48, "tag": self.next_tag(), "lun": lun(unit),
                     "function": function, "task_tag": ref.tag if ref else 0, **fields})

    # --- in ---

    def recv(self):
        """The next IU. With answers, CRED_REQ and AER_REQ are answered and skipped."""
        while True:
            iu = Iu(self.recv_message())
            self.log.append(("<", iu))
            self.check(iu)
            if iu.opcode not in (CRED_REQ, AER_REQ) or not self.answers:
                return iu
            (self.asks if iu.opcode == CRED_REQ else self.events).append(iu)
            self.answer(iu)

    def answer(self, iu):
        self.send(Iu(opcode=CRED_RSP if iu.opcode == CRED_REQ else AER_RSP, tag=iu.tag))

    def check(self, iu):
        if not self.has_sent:
            self.fail("an IU before the first own one: ib_srp has no receive buffers yet")
        if len(iu.raw) > self.accepted.max_ti_iu_len:
            self.fail(f"{len(iu.raw)} bytes, at most {self.accepted.max_ti_iu_len} may come")
        if len(iu.raw) < SIZES.get(iu.opcode, 1 << 30):
            self.fail("not an IU of a target, or too short")
        if any(iu.raw[2:4]):
            self.fail("reserved bytes are not zero")
        if iu.opcode in (CRED_REQ, AER_REQ):
            if self.asked:
                self.fail("a request before the last one was answered")
            self.asked = iu
        if iu.opcode == RSP:
            self._check_response(iu)
        if iu.opcode != T_LOGOUT:
            self._grant(iu.delta)

    def _grant(self, delta):
        self.limit += delta
        if self.limit + len(self.sent) > self.granted:
            self.fail(f"request limit {self.limit} beside {len(self.sent)} IUs: there are receive "
                      f"buffers for {self.granted}")

    def _check_response(self, iu):
        sent = self.sent.pop(iu.tag, None)
        if not sent:
            self.fail(f"RSP with tag {iu.tag:#x}, which is not in flight")
        rsp_len = iu.rsp_len if iu.flags & RSPVALID else 0
        if iu.rsp_len != rsp_len or bool(iu.sense_len) != bool(iu.flags & SNSVALID):
            self.fail("a length and its flag disagree")
        if len(iu.raw) != 36 + rsp_len + iu.sense_len or rsp_len not in (0, 4):
            self.fail("lengths that do not fit")
        if any(iu.raw[16:18]) or rsp_len and any(iu.raw[36:39]):
            self.fail("reserved bytes are not zero")
        if sent.opcode == TSK_MGMT and not rsp_len:
            self.fail("a task management response without a code")
        if sent.opcode == CMD and not rsp_len and (iu.status == CHECK) != bool(iu.sense_len):
            self.fail("CHECK CONDITION and sense data belong together")
        self._check_residuals(iu, sent)

    def _check_residuals(self, iu, sent):
        for over, under, residual in ((DOOVER, DOUNDER, iu.out_residual),
                                      (DIOVER, DIUNDER, iu.in_residual)):
            flags = iu.flags & (over | under)
            if flags == over | under or bool(flags) != bool(residual):
                self.fail("residual flags without a residual, or both, or a residual without")
        if sent.opcode == CMD and iu.flags & DIUNDER:
            if sent.data_in.written != sent.data_in.length - iu.in_residual:
                self.fail(f"{sent.data_in.written} bytes were written, not "
                          f"{sent.data_in.length} - {iu.in_residual}")

    def expect(self, opcode, why="", **fields):
        """The next IU, which must be this one with these fields."""
        try:
            iu = self.recv()
        except Closed as closed:
            self.fail(f"{NAMES[opcode]} expected, but {closed} {why}")
        if iu.opcode != opcode:
            self.fail(f"{NAMES[opcode]} expected, {NAMES.get(iu.opcode)} came {why}")
        for name, value in fields.items():
            if getattr(iu, name) != value:
                self.fail(f"{NAMES[opcode]}: {name} is {getattr(iu, name)!r}, not {value!r} {why}")
        return iu

    def expect_closed(self, why=""):
        """The target closes; returns the reason of a T_LOGOUT before that, or None."""
        reason = None
        try:
            while True:
                iu = self.recv()
                if iu.opcode != T_LOGOUT or reason is not None:
                    self.fail(f"{NAMES.get(iu.opcode)} came where the target had to close {why}")
                reason = iu.reason
        except Closed:
            return reason
