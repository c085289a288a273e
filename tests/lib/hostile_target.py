# SPDX-License-Identifier: BSD-2-Clause
"""A scripted iSCSI target with one disk of 1 MiB of zeros that tells one lie, and
farblock-initiator run against a table of such lies: each run ends in bounded time, with an exit
status and words, and no sanitizer has anything to say."""

import concurrent.futures
import os
import socket
import struct
import threading

from farblock import Failure
from initiator import start
import iscsi_raw as raw

NAME = "iqn.2025-01.org.example:t"
LIMIT = 25  # seconds; every run ends of its own accord long before
LOGIN_FATAL = 19  # exit status, also of a discovery whose answer is invalid
RETRIES = ("--replacement-timeout", "0")
BLOCKS, BLOCK = 2048, 512
TO_FULL_FEATURE, STATUS = 0x87, 0x01
INQUIRY, MODE_SENSE_6, CAPACITY_10, READ_10, WRITE_10 = 0x12, 0x1a, 0x25, 0x28, 0x2a
UNMAP, PR_IN, PR_OUT, EXTENDED_COPY, READ_16, WRITE_16 = 0x42, 0x5e, 0x5f, 0x83, 0x88, 0x8a
CAPACITY_16, REPORT_LUNS, PORT_GROUPS = 0x9e, 0xa0, 0xa3
ILLEGAL = bytes((0x70, 0, 5, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0))
CRASHES = ("Sanitizer", "runtime error", "Assertion", "core dumped")


def inquiry(head):
    pages = {0x00: bytes((0, 0, 0, 4, 0x00, 0x80, 0x83, 0xb0)), 0x80: b"\0\x80\0\4abcd",
             0x83: b"\0\x83\0\x0c\1\3\0\x08" + bytes((0x60, 1, 2, 3, 4, 5, 6, 7)),
             0xb0: b"\0\xb0\0\x3c" + bytes(60)}
    if head[33] & 1:
        return pages.get(head[34], b"")
    return bytes((0, 0, 6, 2, 31, 0, 0, 2)) + b"EXAMPLE HOSTILE TARGET  1   "


def data_for(head):
    """What an honest disk sends."""
    opcode = head[32]
    if opcode == INQUIRY:
        return inquiry(head)
    if opcode == CAPACITY_16:
        return struct.pack(">QI20x", BLOCKS - 1, BLOCK)
    if opcode == CAPACITY_10:
        return struct.pack(">II", BLOCKS - 1, BLOCK)
    if opcode == REPORT_LUNS:
        return struct.pack(">I12x", 8)
    if opcode == PR_IN:
        return struct.pack(">II", 1, 0) if head[33] < 2 else bytes(8)
    if opcode in (READ_10, READ_16):
        return bytes(int.from_bytes(head[20:24], "big"))
    return b""


class Listener:
    """What all scripted targets are: a socket, and a thread for each connection that runs serve()
    until it ends. told: how often an answer was not the honest one."""

    def __init__(self, lie=None):
        self.lie, self.told = lie, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.accepting = threading.Thread(target=self.accept, daemon=True)
        self.accepting.start()

    def close(self):
        """Ends accept() first, which else could take a connection of the next socket with the same
        descriptor."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.accepting.join()
        self.listener.close()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    options = ()  # further ones of the program


class Target(Listener):
    """lie(target, head, answers): changes the list of PDUs (or bytes) that answer the request
    with this header, or returns another."""

    def url(self, verb):
        where = f"iscsi://127.0.0.1:{self.port}"
        if verb in ("discover", "tree"):
            return where
        return f"{where}/{NAME}" + ("" if verb == "luns" else "/0")

    def serve(self, connection):
        numbers = {"stat_sn": 1}
        try:
            with connection, connection.makefile("rb") as source:
                while self.answer_next(connection, source, numbers):
                    pass
        except OSError:
            pass  # the initiator has closed the connection

    def numbered(self, request, body, numbers):
        """The honest answers."""
        answers = self.honest(request, bytes(request.bhs), body)
        for answer in answers:
            self.number(answer, request, numbers)
        return answers

    def answer_next(self, connection, source, numbers):
        head = source.read(48)
        if len(head) < 48:
            return False
        length = int.from_bytes(head[5:8], "big")
        body = source.read(length + -length % 4)[:length]
        request = raw.Pdu()
        request.bhs[:] = head
        answers = self.numbered(request, body, numbers)
        if self.lie:
            was = b"".join(a.wire() for a in answers)
            changed = self.lie(self, head, answers)
            answers = answers if changed is None else changed
            wire = b"".join(a if isinstance(a, bytes) else a.wire() for a in answers)
            self.told += wire != was
        else:
            wire = b"".join(a.wire() for a in answers)
        connection.sendall(wire)
        return request.opcode != raw.LOGOUT

    @staticmethod
    def number(answer, request, numbers):
        is_numbered = not head_is_immediate(request) and request.opcode != raw.DATA_OUT
        if is_numbered:
            numbers["cmd_sn"] = request.cmd_sn
        due = numbers.get("cmd_sn", request.cmd_sn - 1) + 1
        answer.put("stat_sn", numbers["stat_sn"]).put("exp_cmd_sn", due & raw.NONE)
        answer.put("max_cmd_sn", (due + 32) & raw.NONE)
        if answer.opcode != raw.R2T and (answer.opcode != raw.DATA_IN or answer.flags & STATUS):
            numbers["stat_sn"] += 1

    @staticmethod
    def agreed(body):
        digests = {"HeaderDigest": "None", "DataDigest": "None"}
        if b"SessionType=Discovery" in body:
            return digests
        return {"TargetPortalGroupTag": "1", **digests, "InitialR2T": "Yes", "ImmediateData": "No"}

    def honest(self, request, head, body):
        itt = request.itt
        if request.opcode == raw.LOGIN:
            return [raw.Pdu(raw.LOGIN_RSP, TO_FULL_FEATURE, isid=request.isid, tsih=1, itt=itt,
                            data=raw.text(self.agreed(body)))]
        if request.opcode == raw.LOGOUT:
            return [raw.Pdu(raw.LOGOUT_RSP, itt=itt)]
        if request.opcode == raw.TEXT:
            return [raw.Pdu(raw.TEXT_RSP, itt=itt, ttt=raw.NONE, data=raw.text(
                [("TargetName", NAME), ("TargetAddress", f"127.0.0.1:{self.port},1")]))]
        if request.opcode == raw.NOP_OUT:
            return [raw.Pdu(raw.NOP_IN, itt=itt, ttt=raw.NONE, data=body)] if itt != raw.NONE \
                else []
        if request.opcode == raw.TMF:
            return [raw.Pdu(raw.TMF_RSP, itt=itt)]
        if request.opcode == raw.DATA_OUT:
            return [raw.Pdu(raw.RESPONSE, itt=itt)] if request.flags & raw.F else []
        return self.command(request, head, body)

    @staticmethod
    def command(request, head, body):
        expected = int.from_bytes(head[20:24], "big")
        if request.flags & raw.WRITE and expected:
            return [raw.Pdu(raw.R2T, itt=request.itt, ttt=7, desired=expected)]
        data = data_for(head)[:expected]
        left = expected - len(data)
        fields = {"itt": request.itt, "residual": left}
        flags = raw.F | (0x02 if left else 0)
        if not data:
            return [raw.Pdu(raw.RESPONSE, flags, **fields)]
        return [raw.Pdu(raw.DATA_IN, flags | STATUS, ttt=raw.NONE, data=data, **fields)]


def head_is_immediate(request):
    return bool(request.bhs[0] & 0x40)


# --- lies, as rows of a table name them ---

def both(*lies):
    """Several lies, each about another request."""
    def lie(*about):
        for one in lies:
            changed = one(*about)
            if changed is not None:
                return changed
        return None
    return lie


def of(opcode, change):
    """change(pdu): each answer with this PDU opcode."""
    def lie(_, __, answers):
        for answer in answers:
            if answer.opcode == opcode:
                change(answer)
    return lie


def put(opcode, **fields):
    return of(opcode, lambda pdu: [pdu.put(*item) for item in fields.items()])


def to(cdb_opcode, *answers, **fields):
    """The answer to this SCSI command: PDUs made by functions of its tag, or the honest one with
    other fields."""
    def lie(_, head, honest):
        if head[0] & 0x3f != raw.COMMAND or head[32] not in cdb_opcode:
            return None
        if not answers:
            for item in fields.items():
                honest[0].put(*item)
            return None
        changed = [make(int.from_bytes(head[16:20], "big")) for make in answers]
        for pdu in changed:
            for field in ("stat_sn", "exp_cmd_sn", "max_cmd_sn"):
                pdu.put(field, getattr(honest[0], field))
        return changed
    return lie


def says(cdb_opcode, data, page=None):
    """SCSI data instead of the honest data, with a residual that is true. page: of INQUIRY, None:
    the standard data; the service action of PERSISTENT RESERVE IN, None: all."""
    def lie(_, head, answers):
        if head[0] & 0x3f != raw.COMMAND or head[32] != cdb_opcode:
            return
        if cdb_opcode == INQUIRY and (head[34] if head[33] & 1 else None) != page:
            return
        if cdb_opcode == PR_IN and page is not None and head[33] & 0x1f != page:
            return
        expected = int.from_bytes(head[20:24], "big")
        sent, was = data[:expected], answers[0]
        flags = raw.F | STATUS | (0x02 if len(sent) < expected else 0)
        answers[0] = raw.Pdu(raw.DATA_IN, flags, itt=was.itt, ttt=raw.NONE, data=sent,
                             residual=expected - len(sent), stat_sn=was.stat_sn,
                             exp_cmd_sn=was.exp_cmd_sn, max_cmd_sn=was.max_cmd_sn)
    return lie


def refuses(cdb_opcode):
    """ILLEGAL REQUEST, INVALID COMMAND OPERATION CODE."""
    return to((cdb_opcode,), lambda itt: raw.Pdu(
        raw.RESPONSE, itt=itt, status=raw.CHECK, data=struct.pack(">H", len(ILLEGAL)) + ILLEGAL))


def refuses_page(page):
    """INQUIRY of a VPD page ends with CHECK CONDITION, NO SENSE, as from SPDK."""
    def lie(_, head, answers):
        if head[0] & 0x3f == raw.COMMAND and head[32:35] == bytes((INQUIRY, 1, page)):
            was, sense = answers[0], ILLEGAL[:2] + bytes(16)
            answers[0] = raw.Pdu(raw.RESPONSE, itt=was.itt, status=raw.CHECK, stat_sn=was.stat_sn,
                                 exp_cmd_sn=was.exp_cmd_sn, max_cmd_sn=was.max_cmd_sn,
                                 data=struct.pack(">H", len(sense)) + sense)
    return lie


# --- runs ---

VERBS = {"discover": ["discover"], "tree": ["discover", "--tree"], "ping": ["ping"],
         "inquiry": ["inquiry"], "luns": ["luns"],
         "read": ["read", "--length", "4096", "--output", "/dev/null"],
         "write": ["write", "--force"], "short write": ["write", "--force", "--length", "4096"],
         "capacity": ["capacity"],
         "unmap": ["unmap", "--force", "--length", "4096"],
         "copy": ["copy", "--force", "--length", "64k", "--seek", "128k"],
         "report": ["reserve", "report"], "register": ["reserve", "register", "--service-key", "7"]}


def arguments(verb, target, source):
    words = list(VERBS[verb])
    words += ["--input", source] if words[0] == "write" else []
    urls = [target.url(verb)] * (2 if verb == "copy" else 1)
    return [words[0], *urls, *words[1:], *RETRIES, *target.options]


def run(verb, lie, source, make):
    target = make(lie)
    process = start(*arguments(verb, target, source))
    try:
        out, err = process.communicate(timeout=LIMIT)
    except Exception:
        process.kill()
        process.communicate()
        return target, None, f"no end within {LIMIT} s"
    finally:
        target.close()
    return target, process.returncode, out + err


def check(row, source, make):
    what, verb, lie, status, words = row
    target, ended, text = run(verb, lie, source, make)
    fault = None
    if ended != status:
        fault = f"exit status {ended}, not {status}"
    elif any(word in text for word in CRASHES):
        fault = "a crash"
    elif words not in text:
        fault = f"not in these words: {words}"
    elif lie and not target.told:
        fault = "the lie was never told"
    return fault and f"{what} ({verb}): {fault}: {text.strip()[-1500:]}"


def check_all(rows, source="/dev/null", make=Target):
    """rows: (what the lie is, verb, lie, exit status, words of the output)."""
    with concurrent.futures.ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        faults = [fault for fault in pool.map(lambda row: check(row, source, make), rows) if fault]
    if faults:
        raise Failure(f"{len(faults)} of {len(rows)} lies:\n" + "\n".join(faults))
