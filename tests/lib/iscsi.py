# SPDX-License-Identifier: BSD-2-Clause
"""A small iSCSI initiator for tests that must see every PDU: what was sent, what was
acknowledged, in which order. No authentication, no digests; written from RFC 7143 and not
from the tree, so that it does not agree with the tree's mistakes."""

import re
import socket
import struct
import time

NO_TAG = 0xFFFFFFFF
NOP_OUT, COMMAND, LOGIN, DATA_OUT, LOGOUT = 0x00, 0x01, 0x03, 0x05, 0x06
NOP_IN, RESPONSE, LOGIN_RESPONSE, DATA_IN, R2T, REJECT = 0x20, 0x21, 0x23, 0x25, 0x31, 0x3F
IMMEDIATE, FINAL = 0x40, 0x80
GOOD, CHECK_CONDITION = 0x00, 0x02


class Closed(Exception):
    """The connection is gone."""


class Pdu:
    """A PDU without digests or additional header segments."""

    def __init__(self, opcode=0, flags=0, data=b"", header=None):
        self.h = bytearray(header or 48)
        self.data = bytes(data)
        if header is None:
            self.h[0], self.h[1] = opcode, flags

    @property
    def opcode(self):
        return self.h[0] & 0x3F

    def get(self, at):
        return struct.unpack_from(">I", self.h, at)[0]

    def put(self, at, value):
        struct.pack_into(">I", self.h, at, value & 0xFFFFFFFF)
        return self

    def encode(self):
        self.h[5:8] = len(self.data).to_bytes(3, "big")
        return bytes(self.h) + self.data + bytes(-len(self.data) % 4)


class Command:
    """A SCSI command on its way: its data, and once finished its status and sense."""

    def __init__(self, itt, cdb, data_out, read_len, tag):
        self.itt, self.cdb, self.data_out, self.tag = itt, cdb, data_out, tag
        self.data_in, self.status, self.sense = bytearray(read_len), None, b""

    @property
    def is_good(self):
        return self.status == GOOD


class Session:
    """A normal session with one connection. url: iscsi://HOST:PORT/IQN/LUN"""

    def __init__(self, url, initiator="iqn.2025-01.org.farblock:test", isid=1, timeout=120, keys=()):
        host, port, self.iqn, lun = re.fullmatch(
            r"iscsi://(.+):(\d+)/([^/]+)/(\d+)", url).groups()
        self.lun = int(lun)
        self.socket = socket.create_connection((host.strip("[]"), int(port)), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.cmdsn, self.expstatsn, self.maxcmdsn, self.itt = 1, 0, 1, 0
        self.commands, self.keys, self.buffer = {}, {}, bytearray()
        self.login(initiator, isid, dict(keys))

    def send(self, pdu):
        try:
            self.socket.sendall(pdu.encode())
        except (BrokenPipeError, ConnectionError) as why:
            raise Closed(str(why)) from why

    def fill(self, size):
        while len(self.buffer) < size:
            try:
                part = self.socket.recv(262144)
            except ConnectionError as why:
                raise Closed(str(why)) from why
            if not part:
                raise Closed("closed by the target")
            self.buffer += part

    def receive(self):
        self.fill(48)
        length = int.from_bytes(self.buffer[5:8], "big")
        total = 48 + self.buffer[4] * 4 + length + -length % 4
        self.fill(total)
        start = 48 + self.buffer[4] * 4
        pdu = Pdu(header=self.buffer[:48], data=self.buffer[start:start + length])
        del self.buffer[:total]
        return pdu

    def login_request(self, stage, isid, keys):
        text = b"".join(f"{k}={v}".encode() + b"\0" for k, v in keys.items())
        pdu = Pdu(LOGIN | IMMEDIATE, 0x80 | stage << 2 | (1 if stage == 0 else 3), text)
        pdu.h[8:14] = b"\x80" + isid.to_bytes(5, "big")
        pdu.put(24, self.cmdsn).put(28, self.expstatsn)
        self.send(pdu)
        answer = self.receive()
        if answer.opcode != LOGIN_RESPONSE or answer.h[36]:
            raise Closed(f"login refused: {bytes(answer.h[36:38]).hex()}")
        self.numbers(answer)
        for pair in answer.data.decode().split("\0"):
            key, equals, value = pair.partition("=")
            if equals:
                self.keys[key] = value
        return answer.h[1]

    def login(self, initiator, isid, keys):
        names = {"InitiatorName": initiator, "SessionType": "Normal", "TargetName": self.iqn,
                 "AuthMethod": "None"}
        offer = {"HeaderDigest": "None", "DataDigest": "None", "InitialR2T": "No",
                 "ImmediateData": "Yes", "MaxRecvDataSegmentLength": "262144",
                 "MaxBurstLength": "262144", "FirstBurstLength": "65536", **keys}
        stage, asked = 0, names
        for _ in range(8):
            flags = self.login_request(stage, isid, asked)
            asked = {}
            if flags & 0x80 and flags & 3 == 3:
                return
            if flags & 0x80 and stage == 0:
                stage, asked = 1, offer
        raise Closed("login did not end")

    def numbers(self, pdu):
        self.expstatsn, self.maxcmdsn = pdu.get(24) + 1 & 0xFFFFFFFF, pdu.get(32)

    @property
    def has_room(self):
        """The target's command window has room for one more."""
        return (self.maxcmdsn - self.cmdsn) & 0xFFFFFFFF < 0x80000000

    def submit(self, cdb, data_out=b"", read_len=0, tag=None):
        """Sends a command with as much immediate data as was agreed upon."""
        self.itt = (self.itt + 1) & 0x7FFFFFFF
        command = Command(self.itt, cdb, data_out, read_len, tag)
        limit = min(int(self.keys.get("MaxRecvDataSegmentLength", 8192)),
                    int(self.keys.get("FirstBurstLength", 65536)))
        now = data_out[:limit] if self.keys.get("ImmediateData", "Yes") == "Yes" else b""
        flags = FINAL | 1 | (0x20 if data_out else 0) | (0x40 if read_len else 0)
        pdu = Pdu(COMMAND, flags, now)
        pdu.h[9] = self.lun
        pdu.put(16, self.itt).put(20, len(data_out) or read_len).put(24, self.cmdsn)
        pdu.put(28, self.expstatsn)
        pdu.h[32:32 + len(cdb)] = cdb
        self.cmdsn = self.cmdsn + 1 & 0xFFFFFFFF
        self.commands[self.itt] = command
        self.send(pdu)
        return command

    def answer_r2t(self, r2t):
        command, segment = self.commands[r2t.get(16)], int(
            self.keys.get("MaxRecvDataSegmentLength", 8192))
        offset, end, number = r2t.get(40), r2t.get(40) + r2t.get(44), 0
        while offset < end:
            part = command.data_out[offset:min(offset + segment, end)]
            pdu = Pdu(DATA_OUT, FINAL if offset + len(part) == end else 0, part)
            pdu.h[9] = self.lun
            pdu.put(16, command.itt).put(20, r2t.get(20)).put(28, self.expstatsn)
            self.send(pdu.put(36, number).put(40, offset))
            offset, number = offset + len(part), number + 1

    def answer_nop(self, nop):
        if nop.get(20) != NO_TAG:
            pdu = Pdu(NOP_OUT | IMMEDIATE, FINAL)
            pdu.h[8:16] = nop.h[8:16]
            self.send(pdu.put(16, NO_TAG).put(20, nop.get(20)).put(24, self.cmdsn)
                      .put(28, self.expstatsn))

    def finish(self, pdu):
        self.numbers(pdu)
        command = self.commands.pop(pdu.get(16))
        command.status = pdu.h[3] if pdu.opcode == DATA_IN or not pdu.h[2] else 0xFF
        if pdu.opcode == RESPONSE:
            command.sense = bytes(pdu.data[2:])
        return command

    def wait(self):
        """Works off PDUs until a command has finished; returns it."""
        while True:
            pdu = self.receive()
            if pdu.opcode == DATA_IN:
                command, offset = self.commands[pdu.get(16)], pdu.get(40)
                command.data_in[offset:offset + len(pdu.data)] = pdu.data
                if pdu.h[1] & 1:
                    return self.finish(pdu)
            elif pdu.opcode == RESPONSE:
                return self.finish(pdu)
            elif pdu.opcode == R2T:
                self.answer_r2t(pdu)
            elif pdu.opcode == NOP_IN:
                self.answer_nop(pdu)
            else:
                raise Closed(f"unexpected PDU: opcode {pdu.opcode:02x}")

    def run(self, cdb, data_out=b"", read_len=0):
        """One command to its end, with nothing else outstanding; unit attentions are
        taken and the command sent again."""
        for _ in range(16):
            self.submit(cdb, data_out, read_len)
            command = self.wait()
            if command.status != CHECK_CONDITION or command.sense[2] & 0x0F != 6:
                return command
        raise Closed("unit attention without end")

    def ready(self, timeout=120):
        """Waits until the logical unit is ready."""
        end = time.monotonic() + timeout
        while not self.run(bytes(6)).is_good:
            if time.monotonic() > end:
                raise Closed("logical unit never became ready")
            time.sleep(0.05)

    def capacity(self):
        """(blocks, bytes a block)"""
        data = self.run(b"\x9e\x10" + bytes(11) + b"\x20" + bytes(2), read_len=32).data_in
        last, size = struct.unpack_from(">QI", data)
        return last + 1, size

    def logout(self):
        pdu = Pdu(LOGOUT | IMMEDIATE, FINAL)
        self.send(pdu.put(16, NO_TAG - 1).put(24, self.cmdsn).put(28, self.expstatsn))
        self.close()

    def close(self):
        self.socket.close()


def write16(lba, blocks):
    return struct.pack(">BBQIBB", 0x8A, 0, lba, blocks, 0, 0)


def read16(lba, blocks):
    return struct.pack(">BBQIBB", 0x88, 0, lba, blocks, 0, 0)


SYNCHRONIZE_CACHE = bytes([0x35]) + bytes(9)
