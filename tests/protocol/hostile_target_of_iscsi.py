#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator against an iSCSI target that lies in its PDUs: each lie is refused in words."""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import main  # noqa: E402
from hostile_target import (LOGIN_FATAL, NAME, READ_10, READ_16, WRITE_10, WRITE_16,  # noqa: E402
                            check_all, of, put, raw, to)

READS, WRITES = (READ_10, READ_16), (WRITE_10, WRITE_16)


def size(count):
    """DataSegmentLength, without the data."""
    def change(pdu):
        pdu.bhs[5:8] = count.to_bytes(3, "big")
        pdu.data = b""
    return change


def ahs(pdu):
    pdu.bhs[4], pdu.ahs = 255, bytes(1020)


def data_of(data):
    def change(pdu):
        pdu.data = data
        pdu.bhs[5:8] = len(data).to_bytes(3, "big")
    return change


def keys(*pairs):
    return of(raw.LOGIN_RSP, data_of(raw.text(list(pairs))))


def targets(data, flags=raw.F, ttt=raw.NONE):
    def change(pdu):
        data_of(data)(pdu)
        pdu.put("flags", flags).put("ttt", ttt)
    return of(raw.TEXT_RSP, change)


def data_in(data=bytes(4096), flags=raw.F | 1, **fields):
    return pdu(raw.DATA_IN, flags, data, **{"ttt": raw.NONE, **fields})


def pdu(opcode, flags=raw.F, data=b"", **fields):
    return lambda itt: raw.Pdu(opcode, flags, data=data, **{"itt": itt, **fields})


def changed_by(change, make):
    def made(itt):
        answer = make(itt)
        change(answer)
        return answer
    return made


def resized(make):
    return changed_by(size(0xffffff), make)


def with_ahs(make):
    return changed_by(ahs, make)


def r2t(**fields):
    return pdu(raw.R2T, **{"ttt": 7, "desired": 4096, **fields})


def redirect(where):
    def lie(target, _, answers):
        for answer in answers:
            if answer.opcode == raw.LOGIN_RSP:
                answer.put("login_status", 0x0101).put("flags", 0)
                data_of(raw.text({"TargetAddress": where.format(port=target.port)}))(answer)
    return lie


LIES = [
    ("nothing", "read", None, 0, ""),
    ("nothing", "write", None, 0, ""),
    ("nothing", "inquiry", None, 0, "HOSTILE"),
    ("nothing", "luns", None, 0, "HOSTILE"),
    ("nothing", "discover", None, 0, NAME),
    # Login
    ("DataSegmentLength of 16 MiB in the login", "inquiry",
     of(raw.LOGIN_RSP, size(0xffffff)), 1,
     "Login Response 0x23: data segment of 16777215 bytes (at most 8192)"),
    ("an AHS in the login", "inquiry",
     of(raw.LOGIN_RSP, ahs), 1,
     "Login Response 0x23: AHS not allowed"),
    ("a text without its end", "inquiry",
     of(raw.LOGIN_RSP, data_of(b"HeaderDigest=None")), 1,
     "text: not a list of key=value pairs that end with a NUL"),
    ("another tag", "inquiry",
     put(raw.LOGIN_RSP, itt=0x12345), 1,
     "login: response to another request"),
    ("another ISID", "inquiry", put(raw.LOGIN_RSP, isid=b"\xff" * 6), 0, ""),
    ("TSIH 0", "inquiry", put(raw.LOGIN_RSP, tsih=0), 0, ""),
    ("version 1", "inquiry",
     put(raw.LOGIN_RSP, version_active=1), 1,
     "login: target has version 1 (only 0 is supported)"),
    ("status class 9", "inquiry",
     put(raw.LOGIN_RSP, login_status=0x0909), 1,
     "login: refused by target: 0909 unknown status"),
    ("status 0203", "inquiry",
     put(raw.LOGIN_RSP, login_status=0x0203), 1,
     "login: refused by target: 0203 target not found (check the target name with disc"),
    ("T and C", "inquiry",
     put(raw.LOGIN_RSP, flags=0xc7), 1,
     "Login Response 0x23: T and C are both set"),
    ("stage 2", "inquiry",
     put(raw.LOGIN_RSP, flags=0x8a), 1,
     "login: target is in stage 2, expected 1"),
    ("no end of the login", "inquiry",
     put(raw.LOGIN_RSP, flags=0), 1,
     "login: target is in stage 0, expected 1"),
    ("C for ever", "inquiry",
     put(raw.LOGIN_RSP, flags=0x40), 1,
     "login: target is in stage 0, expected 1"),
    ("a digest that was not offered", "inquiry",
     keys(("HeaderDigest", "md5")), 1,
     "HeaderDigest: peer chose md5, which was not offered"),
    ("a key twice", "inquiry",
     keys(("HeaderDigest", "None"), ("HeaderDigest", "None")), 1,
     "HeaderDigest: sent twice"),
    ("MaxBurstLength 0", "inquiry",
     keys(("MaxBurstLength", "0")), 1,
     "MaxBurstLength: invalid answer 0"),
    ("MaxRecvDataSegmentLength 4294967296", "inquiry",
     keys(("MaxRecvDataSegmentLength", "4294967296")), 1,
     "MaxRecvDataSegmentLength: invalid value 4294967296"),
    ("MaxRecvDataSegmentLength 1", "write",
     keys(("MaxRecvDataSegmentLength", "1")), 1,
     "MaxRecvDataSegmentLength: invalid value 1"),
    ("CHAP unasked", "inquiry",
     keys(("AuthMethod", "CHAP")), 1,
     "AuthMethod: not allowed from a target in login stage 1"),
    ("redirect to itself", "inquiry",
     redirect("127.0.0.1:{port},1"), 1,
     "login: redirected more than 8 times"),
    ("redirect to port 0", "inquiry",
     redirect("127.0.0.1:0,1"), 1,
     "login: redirect without a valid TargetAddress"),
    ("redirect to port 65536", "inquiry",
     redirect("127.0.0.1:65536,1"), 1,
     "login: redirect without a valid TargetAddress"),
    ("redirect to half an IPv6 address", "inquiry",
     redirect("[::1"), 1,
     "login: redirect without a valid TargetAddress"),
    ("redirect to a name of 300 bytes", "inquiry",
     redirect("a" * 300 + ":{port}"), 1,
     "login: redirect without a valid TargetAddress"),
    ("redirect to nothing", "inquiry",
     redirect(""), 1,
     "login: redirect without a valid TargetAddress"),
    # Lists of targets
    ("TargetName of 300 bytes", "discover",
     targets(raw.text({"TargetName": "iqn." + "x" * 300})), LOGIN_FATAL,
     "iSCSI name: invalid length 304 (1 to 223 bytes)"),
    ("TargetName with an escape", "discover",
     targets(raw.text({"TargetName": "iqn.2025-01.x:\033[2J"})), LOGIN_FATAL,
     "iSCSI name: invalid byte 0x1b at offset 14 (no blanks, control characters or mal"),
    ("TargetAddress before any name", "discover",
     targets(raw.text({"TargetAddress": "127.0.0.1,1"})), LOGIN_FATAL,
     "SendTargets: TargetAddress without a TargetName"),
    ("TargetAddress without a tag", "discover",
     targets(raw.text([("TargetName", NAME), ("TargetAddress", "127.0.0.1")])), 0,
     ""),
    ("TargetAddress with port 99999", "discover",
     targets(raw.text([("TargetName", NAME), ("TargetAddress", "127.0.0.1:99999,1")])), LOGIN_FATAL,
     "SendTargets: TargetAddress: invalid address '127.0.0.1:99999,1': port must be 1 "),
    ("a list without its end", "discover",
     targets(b"TargetName=iqn.2025"), LOGIN_FATAL,
     "SendTargets: malformed text"),
    ("a list of bytes above 127", "discover",
     targets(b"\xff\xfe\xfd\0"), LOGIN_FATAL,
     "SendTargets: malformed text"),
    ("a list that goes on without a tag", "discover",
     targets(raw.text({"TargetName": NAME}), 0x40), LOGIN_FATAL,
     "Text Response 0x24: not final, but no target tag"),
    ("a list that never ends", "discover",
     targets(raw.text([("TargetName", NAME)] * 200), 0x40, 9), 1,
     "SendTargets: answer too long (4188400 bytes)"),
    ("an empty list that never ends", "discover",
     targets(b"", 0x40, 9), 1,
     "SendTargets: answer too long (0 bytes)"),
    ("F with a tag", "discover", targets(raw.text({"TargetName": NAME}), raw.F, 9), 0, ""),
    ("a list for another tag", "discover",
     put(raw.TEXT_RSP, itt=0x9999), LOGIN_FATAL,
     "unexpected Text Response"),
    ("DataSegmentLength of 16 MiB", "discover",
     of(raw.TEXT_RSP, size(0xffffff)), LOGIN_FATAL,
     "Text Response 0x24: data segment of 16777215 bytes (at most 262144)"),
    # Data-In
    ("DataSegmentLength of 16 MiB", "read",
     to(READS, resized(data_in())), 1,
     "Data-In 0x25: data segment of 16777215 bytes (at most 262144)"),
    ("AHS", "read", to(READS, with_ahs(data_in())), 1, "Data-In 0x25: AHS not allowed"),
    ("DataSN 5", "read", to(READS, data_in(data_sn=5)), 1, "Data-In: DataSN 5, expected 0"),
    ("offset beyond the buffer", "read",
     to(READS, data_in(offset=4096)), 1,
     "Data-In: 4096 bytes at offset 4096, but 0 of 4096 are received"),
    ("offset of 4 GiB - 512", "read",
     to(READS, data_in(bytes(512), offset=0xfffffe00)), 1,
     "Data-In: 512 bytes at offset 4294966784, but 0 of 4096 are received"),
    ("a gap", "read",
     to(READS, data_in(bytes(512), offset=512)), 1,
     "Data-In: 512 bytes at offset 512, but 0 of 4096 are received"),
    ("more data than asked for", "read",
     to(READS, data_in(bytes(8192))), 1,
     "Data-In: 8192 bytes at offset 0, but 0 of 4096 are received"),
    ("less data without a residual", "read",
     to(READS, data_in(bytes(512))), 1,
     "READ at 0: short read: 512 of 4096 bytes"),
    ("no data and GOOD", "read",
     to(READS, pdu(raw.RESPONSE)), 1,
     "READ at 0: short read: 0 of 4096 bytes"),
    ("an underflow beyond the length", "read",
     to(READS, data_in(flags=0x83, residual=0x7fffffff)), 1,
     "residual: underflow of 2147483647 bytes in a transfer of 4096"),
    ("an underflow of 4096 with all data", "read",
     to(READS, data_in(flags=0x83, residual=4096)), 1,
     "READ at 0: short read: 0 of 4096 bytes"),
    ("an overflow of 4096", "read", to(READS, data_in(flags=0x85, residual=4096)), 0, ""),
    ("both residual flags", "read",
     to(READS, data_in(flags=0x87, residual=4)), 1,
     "Data-In 0x25: both residual flags, or residual without status"),
    ("S without F", "read",
     to(READS, data_in(flags=1)), 1,
     "Data-In 0x25: status before the last PDU"),
    ("A at level 0", "read",
     to(READS, data_in(flags=0xc1, ttt=7)), 1,
     "Data-In 0x25: A is set at ErrorRecoveryLevel 0"),
    ("data for an unknown tag", "read",
     to(READS, data_in(itt=0x777777)), 1,
     "Data-In: no command in flight with tag 0x00777777"),
    ("data for no tag", "read",
     to(READS, data_in(itt=raw.NONE)), 1,
     "Data-In 0x25: no initiator task tag"),
    ("StatSN", "read", put(raw.DATA_IN, stat_sn=0x80000000), 0, ""),
    ("ExpCmdSN ahead", "read", put(raw.DATA_IN, exp_cmd_sn=0x7fffffff), 0, ""),
    ("data to a write", "write", to(WRITES, data_in()), 1, "Data-In: the command does not read"),
    ("an R2T to a read", "read", to(READS, r2t()), 1, "R2T: the command does not write"),
    # Responses
    ("sense longer than its segment", "read",
     to(READS, pdu(raw.RESPONSE, data=b"\xff\xff\x70", status=2)), 1,
     "sense: 65535 bytes in a data segment of 3"),
    ("sense of one byte", "read",
     to(READS, pdu(raw.RESPONSE, data=b"\0", status=2)), 1,
     "sense: 0 bytes in a data segment of 1"),
    ("sense of 60000 bytes", "read",
     to(READS, pdu(raw.RESPONSE, data=b"\xea\x60" + bytes(60000), status=2)), 1,
     "SCSI Response: unexpected data segment of 60002 bytes"),
    ("CHECK CONDITION without sense", "read",
     to(READS, pdu(raw.RESPONSE, status=2)), 1,
     "CHECK CONDITION without valid sense data"),
    ("status 0x55", "read", to(READS, pdu(raw.RESPONSE, status=0x55)), 1, "unknown status (0x55)"),
    ("response 0x80", "read",
     to(READS, pdu(raw.RESPONSE, response=0x80)), 1,
     "target refused the command, response 0x80"),
    ("a Response for an unknown tag", "read",
     to(READS, pdu(raw.RESPONSE, itt=0x777777)), 1,
     "SCSI Response: no command in flight with tag 0x00777777"),
    ("F is not set", "read",
     to(READS, pdu(raw.RESPONSE, flags=0)), 1,
     "SCSI Response 0x21: F is not set"),
    ("GOOD to a write before its data is requested", "write",
     to(WRITES, pdu(raw.RESPONSE)), 1,
     "WRITE at 0: short write: 4096 of 4096 bytes not written"),
    ("an underflow of the whole write", "write",
     of(raw.RESPONSE, lambda p: p.put("flags", 0x82).put("residual", 4096)), 1,
     "residual: underflow of 4096 bytes in a transfer of 0"),
    # R2T
    ("length 0", "write", to(WRITES, r2t(desired=0)), 1, "R2T 0x31: requests no data"),
    ("length of 4 GiB - 1", "write",
     to(WRITES, r2t(desired=raw.NONE)), 1,
     "R2T: 4294967295 bytes at offset 0, but 0 of 4096 are requested"),
    ("offset at the end", "write",
     to(WRITES, r2t(offset=4096)), 1,
     "R2T: 4096 bytes at offset 4096, but 0 of 4096 are requested"),
    ("offset that wraps", "write",
     to(WRITES, r2t(offset=0xfffffe00, desired=0x400)), 1,
     "R2T: 1024 bytes at offset 4294966784, but 0 of 4096 are requested"),
    ("R2TSN 3", "write", to(WRITES, r2t(r2t_sn=3)), 1, "R2T: R2TSN 3, expected 0"),
    ("no tag", "write", to(WRITES, r2t(ttt=raw.NONE)), 1, "R2T 0x31: no target tag"),
    ("an unknown task", "write",
     to(WRITES, r2t(itt=0x777777)), 1,
     "R2T: no command in flight with tag 0x00777777"),
    ("more R2Ts than agreed", "write",
     to(WRITES, r2t(desired=512), r2t(desired=512, offset=512, r2t_sn=1)), 1,
     "R2T: more than 1 outstanding (MaxOutstandingR2T)"),
    ("the same part twice", "write",
     to(WRITES, r2t(), r2t(r2t_sn=1)), 1,
     "R2T: 4096 bytes at offset 0, but 4096 of 4096 are requested"),
    # Other PDUs
    ("a Reject without its header", "read",
     to(READS, pdu(raw.REJECT, data=b"", itt=raw.NONE)), 1,
     "Reject 0x3f: rejected header is missing"),
    ("a Reject of 3 bytes", "read",
     to(READS, pdu(raw.REJECT, data=b"abc", itt=raw.NONE)), 1,
     "Reject 0x3f: rejected header is missing"),
    ("a drop of the connection", "read",
     to(READS, pdu(raw.ASYNC, itt=raw.NONE, event=2)), 1,
     "target dropped the connection"),
    ("a SCSI event with sense beyond it", "read", to(READS, pdu(raw.ASYNC, data=b"\xff\xff", itt=raw.NONE, event=0), data_in()), 0, ""),
    ("an event of 255", "read", to(READS, pdu(raw.ASYNC, itt=raw.NONE, event=255), data_in()), 0, ""),
    ("opcode 0x3e", "read", to(READS, pdu(0x3e)), 1, "PDU 0x3e: unknown opcode"),
    ("an initiator's opcode", "read",
     to(READS, pdu(raw.COMMAND)), 1,
     "SCSI Command 0x01: wrong direction"),
    ("an unasked Logout Response", "read",
     to(READS, pdu(raw.LOGOUT_RSP)), 1,
     "unexpected Logout Response"),
    ("an unasked Text Response", "read",
     to(READS, pdu(raw.TEXT_RSP, ttt=raw.NONE)), 1,
     "unexpected Text Response"),
    ("an unasked answer to task management", "read", to(READS, pdu(raw.TMF_RSP), data_in()), 0, ""),
    ("a second Login Response", "read",
     to(READS, pdu(raw.LOGIN_RSP, flags=0x87)), 1,
     "Login Response 0x23: not allowed in this phase"),
    ("a NOP-In with 16 MiB", "read",
     to(READS, resized(pdu(raw.NOP_IN, itt=raw.NONE, ttt=1))), 1,
     "NOP-In 0x20: data segment of 16777215 bytes (at most 262144)"),
    ("a ping's answer is rejected", "ping",
     of(raw.NOP_IN, lambda p: p.bhs.__setitem__(0, 0x3f)), 1,
     "ping: Transport endpoint is not connected"),
    ("logout response 3", "inquiry", put(raw.LOGOUT_RSP, response=3), 0, ""),
    ("a logout answer for another tag", "inquiry", put(raw.LOGOUT_RSP, itt=0x55), 0, ""),
]


def test():
    with tempfile.NamedTemporaryFile() as source:
        source.write(bytes(4096))
        source.flush()
        check_all(LIES, source.name)


if __name__ == "__main__":
    main(test)
