# SPDX-License-Identifier: BSD-2-Clause
"""iSCSI PDUs as bytes (RFC 7143 11): what a scripted peer sends and what it makes of what comes.

Every PDU that arrives is held against what the strictest initiators demand (numbers that only
move forward, DataSN and R2TSN without gaps, residuals that mean something, no data where none
belongs). A test that fails shows the last PDUs of its connection in hex.
"""

import struct

from farblock import Failure
from link import TIMEOUT, Closed, Link, crc32c

NONE = 0xffffffff
NOP_OUT, COMMAND, TMF, LOGIN, TEXT, DATA_OUT, LOGOUT, SNACK = 0, 1, 2, 3, 4, 5, 6, 0x10
NOP_IN, RESPONSE, TMF_RSP, LOGIN_RSP, TEXT_RSP = 0x20, 0x21, 0x22, 0x23, 0x24
DATA_IN, LOGOUT_RSP, R2T, ASYNC, REJECT = 0x25, 0x26, 0x31, 0x32, 0x3f
NAMES = {0: "NOP-Out", 1: "Command", 2: "TMF", 3: "Login", 4: "Text", 5: "Data-Out", 6: "Logout",
         0x10: "SNACK", 0x20: "NOP-In", 0x21: "Response", 0x22: "TMF Rsp", 0x23: "Login Rsp",
         0x24: "Text Rsp", 0x25: "Data-In", 0x26: "Logout Rsp", 0x31: "R2T", 0x32: "Async",
         0x3f: "Reject"}
F, READ, WRITE, SIMPLE, ORDERED, HEAD_OF_QUEUE = 0x80, 0x40, 0x20, 0x01, 0x02, 0x03
GOOD, CHECK, TASK_ABORTED = 0x00, 0x02, 0x40
ABORT_TASK, ABORT_TASK_SET, CLEAR_ACA, CLEAR_TASK_SET, LU_RESET = 1, 2, 3, 4, 5
WARM_RESET, COLD_RESET, TASK_REASSIGN, QUERY_TASK = 6, 7, 8, 9

# Name: offset and size in the basic header segment. Names share places, as PDUs do.
FIELDS = {
    "lun": (8, 8), "isid": (8, 6), "tsih": (14, 2), "itt": (16, 4), "ttt": (20, 4),
    "edtl": (20, 4), "ref_itt": (20, 4), "cid": (20, 2), "cmd_sn": (24, 4), "stat_sn": (24, 4),
    "exp_stat_sn": (28, 4), "exp_cmd_sn": (28, 4), "max_cmd_sn": (32, 4), "ref_cmd_sn": (32, 4),
    "data_sn": (36, 4), "r2t_sn": (36, 4), "exp_data_sn": (36, 4), "offset": (40, 4),
    "residual": (44, 4), "desired": (44, 4), "status_class": (36, 1), "status_detail": (37, 1),
    "login_status": (36, 2), "response": (2, 1), "status": (3, 1), "reason": (2, 1),
    "version_max": (2, 1), "version_min": (3, 1), "version_active": (3, 1), "event": (36, 1),
    "param3": (42, 2), "time2wait": (40, 2), "time2retain": (42, 2), "begin": (40, 4),
    "flags": (1, 1)}


def pad(data):
    return bytes(data) + bytes(-len(data) % 4)


def lun(number):
    """SAM-5 4.7: the eight bytes of a LUN."""
    return struct.pack(">H6x", number if number < 256 else 0x4000 | number)


def text(pairs):
    """Keys as they travel: a dict, or a list of pairs where order or repetition matters."""
    pairs = pairs.items() if isinstance(pairs, dict) else pairs
    return b"".join(f"{key}={value}".encode() + b"\0" for key, value in pairs)


def pairs_of(data):
    """The pairs of a text, in order."""
    if data and data[-1:] != b"\0":
        raise Failure(f"a text that does not end with NUL: {data!r}")
    return [tuple(item.decode().split("=", 1)) for item in data.split(b"\0")[:-1] if item]


class Pdu:
    """A basic header segment with named fields, an AHS and a data segment."""

    def __init__(self, opcode=0, flags=F, data=b"", ahs=b"", immediate=False, **fields):
        self.bhs, self.ahs, self.data = bytearray(48), bytes(ahs), bytes(data)
        self.bhs[0] = opcode | (0x40 if immediate else 0)
        self.bhs[1] = flags
        self.bhs[4] = len(self.ahs) // 4
        self.bhs[5:8] = len(self.data).to_bytes(3, "big")
        for name, value in fields.items():
            self.put(name, value)

    def put(self, name, value):
        at, size = FIELDS[name]
        self.bhs[at:at + size] = value if isinstance(value, (bytes, bytearray)) \
            else value.to_bytes(size, "big")
        return self

    def __getattr__(self, name):
        if name not in FIELDS:
            raise AttributeError(name)
        at, size = FIELDS[name]
        raw = bytes(self.bhs[at:at + size])
        return raw if name in ("lun", "isid") else int.from_bytes(raw, "big")

    @property
    def opcode(self):
        return self.bhs[0] & 0x3f

    def wire(self, header_digest=False, data_digest=False):
        header = bytes(self.bhs) + self.ahs
        out = header + (crc32c(header) if header_digest else b"")
        body = pad(self.data)
        return out + body + (crc32c(body) if data_digest and body else b"")

    @property
    def keys(self):
        return dict(pairs_of(self.data))

    @property
    def sense(self):
        """Key, ASC, ASCQ of a CHECK CONDITION."""
        if self.opcode != RESPONSE or len(self.data) < 2:
            return None
        length = struct.unpack(">H", self.data[:2])[0]
        sense = self.data[2:2 + length]
        if len(sense) < length or length < 8:
            raise Failure(f"sense length {length} in {len(self.data)} bytes of data segment")
        if sense[0] & 0x7f in (0x72, 0x73):
            return sense[1] & 0xf, sense[2], sense[3]
        return sense[2] & 0xf, sense[12], sense[13]

    def __str__(self):
        body = f" +{len(self.data)} {self.data[:96].hex(' ', 4)}" if self.data else ""
        return f"{NAMES.get(self.opcode, '?')}\n      {bytes(self.bhs).hex(' ', 4)}{body}"


def after(a, b):
    """Serial number arithmetic: a > b."""
    return 0 < (a - b) & NONE < 1 << 31


class Wire(Link):
    """A TCP connection that carries PDUs. Numbers are kept for the test, which may lie."""

    def __init__(self, address, timeout=TIMEOUT, source=None):
        super().__init__(address, timeout, source)
        self.header_digest = self.data_digest = False
        self.is_full_feature = False
        self.max_recv = 8192  # what we declared
        self.cmd_sn = self.itt = 1
        self.exp_stat_sn = 0
        self.exp_cmd_sn = self.max_cmd_sn = None
        self.tasks = {}  # itt: next DataSN or R2TSN

    # --- bytes ---

    def send(self, *pdus):
        """Sends PDUs in one piece, so that the target meets them together."""
        for pdu in pdus:
            self.log.append((">", pdu))
        self.send_bytes(b"".join(p.wire(self.header_digest, self.data_digest) for p in pdus))
        return pdus[0]

    def recv(self):
        """The next PDU, whatever it is. Raises Closed."""
        pdu = Pdu()
        pdu.bhs = bytearray(self._read(48))
        pdu.ahs = self._read(4 * pdu.bhs[4]) if pdu.bhs[4] else b""
        if self.header_digest and self._read(4) != crc32c(bytes(pdu.bhs) + pdu.ahs):
            self.fail("header digest is wrong")
        length = int.from_bytes(pdu.bhs[5:8], "big")
        body = self._read(length + -length % 4)
        if self.data_digest and length and self._read(4) != crc32c(body):
            self.fail("data digest is wrong")
        pdu.data = body[:length]
        self.log.append(("<", pdu))
        if any(body[length:]):
            self.fail("the pad is not zero")
        self.check(pdu)
        return pdu

    # --- what strict initiators check ---

    def check(self, pdu):
        limit = self.max_recv if pdu.opcode in (DATA_IN, NOP_IN, TEXT_RSP) else 8192
        if len(pdu.data) > limit:
            self.fail(f"data segment of {len(pdu.data)} bytes, at most {limit} may come")
        if pdu.ahs:
            self.fail("an AHS in a response")
        if pdu.opcode == LOGIN_RSP:
            self.exp_stat_sn = (pdu.stat_sn + 1) & NONE
            return
        if pdu.opcode in (TMF_RSP, LOGOUT_RSP, R2T) and pdu.data:
            self.fail("data where none is allowed")
        if pdu.opcode != DATA_IN and not pdu.flags & F and pdu.opcode != TEXT_RSP:
            self.fail("F is not set")
        self._check_numbers(pdu)
        if pdu.opcode in (DATA_IN, R2T):
            self._check_sequence(pdu)
        if pdu.opcode == RESPONSE or (pdu.opcode == DATA_IN and pdu.flags & 1):
            self._check_status(pdu)
        if pdu.opcode == NOP_IN and pdu.itt == NONE and pdu.data:
            self.fail("an unsolicited NOP-In with data")
        if pdu.opcode == REJECT and len(pdu.data) < 48:
            self.fail("a Reject without the header it rejects")

    def _check_numbers(self, pdu):
        if pdu.opcode == DATA_IN and not pdu.flags & 1:
            advances = None
        else:
            advances = pdu.opcode != R2T and not (pdu.opcode == NOP_IN and pdu.itt == NONE)
            if pdu.stat_sn != self.exp_stat_sn:
                self.fail(f"StatSN {pdu.stat_sn:#x} where {self.exp_stat_sn:#x} is due")
        if advances:
            self.exp_stat_sn = (self.exp_stat_sn + 1) & NONE
        if self.max_cmd_sn is not None:
            if after(self.exp_cmd_sn, pdu.exp_cmd_sn) or after(self.max_cmd_sn, pdu.max_cmd_sn):
                self.fail("ExpCmdSN or MaxCmdSN moves back")
        if after((pdu.exp_cmd_sn - 1) & NONE, pdu.max_cmd_sn):
            self.fail("MaxCmdSN below ExpCmdSN - 1")
        self.exp_cmd_sn, self.max_cmd_sn = pdu.exp_cmd_sn, pdu.max_cmd_sn

    def _check_sequence(self, pdu):
        due = self.tasks.get(pdu.itt, 0)
        if pdu.data_sn != due:
            self.fail(f"DataSN or R2TSN {pdu.data_sn} where {due} is due")
        self.tasks[pdu.itt] = due + 1
        if pdu.opcode == DATA_IN and (pdu.flags & 0x40 or pdu.ttt != NONE):
            self.fail("A or a target tag in a Data-In at ErrorRecoveryLevel 0")
        if pdu.opcode == R2T and (pdu.ttt == NONE or not pdu.desired):
            self.fail("an R2T without a tag or a length")

    def _check_status(self, pdu):
        self.tasks.pop(pdu.itt, None)
        over, under = pdu.flags & 4, pdu.flags & 2
        if over and under or (over or under) and not pdu.residual:
            self.fail("residual flags without a residual, or both")
        if pdu.status == CHECK and not pdu.sense:
            self.fail("CHECK CONDITION without sense")

    # --- expectations ---

    def expect(self, opcode, why="", **fields):
        """The next PDU, which must be this one with these fields."""
        try:
            pdu = self.recv()
        except Closed as closed:
            self.fail(f"{NAMES.get(opcode)} expected, but {closed} {why}")
        if pdu.opcode != opcode:
            self.fail(f"{NAMES.get(opcode, hex(opcode))} expected, {NAMES.get(pdu.opcode)} came "
                      f"{why}")
        for name, value in fields.items():
            if getattr(pdu, name) != value:
                self.fail(f"{NAMES.get(opcode)}: {name} is {getattr(pdu, name)!r}, "
                          f"not {value!r} {why}")
        return pdu

    def expect_status(self, itt, status=GOOD, sense=None, **fields):
        pdu = self.expect(RESPONSE, itt=itt, status=status, **fields)
        if sense and pdu.sense != sense:
            self.fail("sense is %02x/%02x/%02x, not %02x/%02x/%02x" % (*pdu.sense, *sense))
        return pdu

    def expect_closed(self, why=""):
        """The target closes and says nothing more."""
        try:
            pdu = self.recv()
        except Closed:
            return
        self.fail(f"{NAMES.get(pdu.opcode)} came where the target had to close {why}")

    # --- numbers ---

    @property
    def told_stat_sn(self):
        """The ExpStatSN this initiator tells: what it expects, unless it does not know better."""
        return self.exp_stat_sn

    def next_itt(self):
        self.itt = (self.itt + 1) & 0x7fffffff
        return self.itt

    def next_cmd_sn(self):
        now = self.cmd_sn
        self.cmd_sn = (now + 1) & NONE
        return now

    def request(self, opcode, flags=F, immediate=False, **fields):
        """A PDU with the tags and numbers that are due; fields override."""
        fields.setdefault("itt", self.next_itt())
        if opcode not in (DATA_OUT, SNACK) and "cmd_sn" not in fields:
            fields["cmd_sn"] = self.cmd_sn if immediate else self.next_cmd_sn()
        fields.setdefault("exp_stat_sn", self.told_stat_sn)
        return Pdu(opcode, flags, immediate=immediate, **fields)
