#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator against an iSER target over software iWARP that lies in its login, the iSER
header, its PDUs, invalidated STags and its use of memory: each lie is refused in words. What a
target can say of iWARP itself is in hostile_target_of_srp.py."""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import main  # noqa: E402
from hostile_iser import (IserTarget, header, instead, of, pdu, put, reply,  # noqa: E402
                          sends)
from hostile_rdma import Read, Segment, Send, Write, mpa_reject, mpa_reply  # noqa: E402
from hostile_target import (CAPACITY_16, LOGIN_FATAL, NAME, READ_10, READ_16,  # noqa: E402
                            WRITE_10, WRITE_16, check_all)
import iscsi_raw as raw  # noqa: E402
from iser_raw import iser_header  # noqa: E402
from rdma_raw import RDMA_WRITE, tagged  # noqa: E402

MAKE = IserTarget
READS, WRITES, CAPACITY = (READ_10, READ_16), (WRITE_10, WRITE_16), (CAPACITY_16,)
NONE, WRAPS = 0xffffffff, (1 << 64) - 2048


def data_of(data):
    def change(answer):
        answer.data = data
        answer.bhs[5:8] = len(data).to_bytes(3, "big")
    return change


def size(count):
    """DataSegmentLength, without the data."""
    return lambda answer: answer.bhs.__setitem__(slice(5, 8), count.to_bytes(3, "big"))


def keys(**more):
    """Further keys, or other values, in the answer to the login."""
    def change(answer):
        pairs = {**answer.keys, **more}
        data_of(raw.text({k: v for k, v in pairs.items() if v is not None}))(answer)
    return pdu(raw.LOGIN_RSP, change)


def targets(data, flags=raw.F, ttt=raw.NONE):
    def change(answer):
        data_of(data)(answer)
        answer.put("flags", flags).put("ttt", ttt)
    return pdu(raw.TEXT_RSP, change)


def ahs(answer):
    answer.bhs[4], answer.ahs = 255, bytes(1020)


def payload(change):
    """Other bytes of the response's message."""
    return lambda request, honest: Send(change(iser_header() + honest.message()))


def changed(make, change):
    def made(request, honest):
        send = make(request, honest)
        change(send.parts[1])
        return send
    return made


def data(stag=0, at=0, count=4096):
    """The data of a read, elsewhere."""
    return lambda request, _: Write((request.into[0] + stag) & NONE, request.into[1] + at,
                                    bytes(count))


def fetch(stag=0, at=0, count=16384):
    """An RDMA Read, elsewhere than from the data of a write."""
    return lambda request, _: Read((request.out[0] + stag) & NONE, request.out[1] + at, count)


def at(offset, count):
    return lambda request, _: Write(request.into[0], offset, bytes(count))


def own(request):
    return request.into[0]


def nothing(request, _):
    """A message of no bytes that invalidates the STag of the command."""
    return Send(b"", stag=request.into[0])


LIES = [
    ("nothing", "read", None, 0, ""),
    ("nothing", "write", None, 0, ""),
    ("nothing", "short write", None, 0, ""),
    ("nothing", "inquiry", None, 0, "HOSTILE"),
    ("nothing", "luns", None, 0, "HOSTILE"),
    ("nothing", "ping", None, 0, "over iSER (iwarp)"),
    ("nothing", "discover", None, 0, NAME),
    # The connect
    ("no private data", "read", reply(mpa_reply(b"")), 0, ""),
    ("private data of 508 bytes", "read", reply(mpa_reply(b"\xff" * 508)), 0, ""),
    ("private data of 509 bytes", "read", reply(mpa_reply(bytes(509))), 1,
     "iSER: connect: MPA: 513 bytes of private data exceed the limit of 512"),
    ("a refusal with private data", "read", reply(mpa_reject(b"\xff" * 100)), 1,
     "iSER: connect: iwarp: connect: refused by the peer"),
    # The header
    ("HelloReply unasked", "read", header(raw.LOGIN_RSP, at0=0x30), 1,
     "unexpected iSER HelloReply"),
    ("HelloReply that refuses", "read", header(raw.LOGIN_RSP, at0=0x31), 1,
     "unexpected iSER HelloReply"),
    ("Hello", "read", header(raw.LOGIN_RSP, at0=0x20), 1, "unexpected iSER Hello"),
    ("HelloReply in full feature phase", "read", header(raw.RESPONSE, at0=0x30), 1,
     "unexpected iSER HelloReply"),
    ("opcode 0", "read", header(raw.LOGIN_RSP, at0=0), 1,
     "iSER: unknown opcode 0x00 in the header"),
    ("opcode 0xf0", "read", header(raw.RESPONSE, at0=0xf0), 1,
     "iSER: unknown opcode 0xf0 in the header"),
    ("STags of a target", "read", header(raw.RESPONSE, at0=0x1c, at4=1, at16=255), 0, ""),
    ("reserved bytes", "read", header(raw.RESPONSE, at1=255, at2=255, at3=255), 0, ""),
    ("no bytes", "read", instead(READS, payload(lambda whole: b"")), 1,
     "iSER: message of 0 bytes is shorter than its header"),
    ("27 bytes", "read", instead(READS, payload(lambda whole: whole[:27])), 1,
     "iSER: message of 27 bytes is shorter than its header"),
    ("a header alone", "read", instead(READS, payload(lambda whole: whole[:28])), 1,
     "iSER: message of 28 bytes is too short for a PDU"),
    ("75 bytes", "read", instead(READS, payload(lambda whole: whole[:75])), 1,
     "iSER: message of 75 bytes is too short for a PDU"),
    ("4 bytes too many", "read", instead(READS, data(), payload(lambda whole: whole + bytes(4))), 0,
     ""),
    ("5 bytes too many", "read", instead(READS, payload(lambda whole: whole + bytes(5))), 1,
     "iSER: message of 81 bytes, but PDU of 48, 0 and 0"),
    ("a message of 9000 bytes", "read", instead(READS, payload(lambda _: bytes(9000))), 1,
     "iwarp: protocol error by the peer: DDP: the message is too long for its buffer"),
    # Login
    ("DataSegmentLength of 16 MiB in the login", "read",
     pdu(raw.LOGIN_RSP, size(0xffffff)), 1,
     "iSER: message of 220 bytes, but PDU of 48, 0 and 16777215"),
    ("one byte less than DataSegmentLength", "read",
     pdu(raw.LOGIN_RSP, lambda answer: size(len(answer.data) + 1)(answer)), 1,
     "iSER: message of 220 bytes, but PDU of 48, 0 and 145"),
    ("an AHS in the login", "read", pdu(raw.LOGIN_RSP, ahs), 1,
     "Login Response 0x23: AHS not allowed"),
    ("a text without its end", "read", pdu(raw.LOGIN_RSP, data_of(b"RDMAExtensions=Yes")), 1,
     "text: not a list of key=value pairs that end with a NUL"),
    ("another tag", "read", put(raw.LOGIN_RSP, itt=0x12345), 1,
     "login: response to another request"),
    ("version 1", "read", put(raw.LOGIN_RSP, version_active=1), 1,
     "login: target has version 1 (only 0 is supported)"),
    ("status 0909", "read", put(raw.LOGIN_RSP, login_status=0x0909), 1,
     "login: refused by target: 0909 unknown status"),
    ("T and C", "read", put(raw.LOGIN_RSP, flags=0xc7), 1,
     "Login Response 0x23: T and C are both set"),
    ("stage 2", "read", put(raw.LOGIN_RSP, flags=0x8a), 1,
     "login: target is in stage 2, expected 1"),
    ("no end of the login", "read", put(raw.LOGIN_RSP, flags=0x04), 1,
     "RDMAExtensions: answered twice"),
    ("RDMAExtensions No", "read", keys(RDMAExtensions="No"), 1,
     "RDMAExtensions: not negotiated over RDMA"),
    ("no RDMAExtensions", "read", keys(RDMAExtensions=None), 1,
     "RDMAExtensions: not negotiated over RDMA"),
    ("RDMAExtensions maybe", "read", keys(RDMAExtensions="maybe"), 1,
     "RDMAExtensions: invalid answer maybe"),
    ("TargetRecvDataSegmentLength 0", "read", keys(TargetRecvDataSegmentLength="0"), 1,
     "TargetRecvDataSegmentLength: invalid answer 0"),
    ("TargetRecvDataSegmentLength 4294967296", "read",
     keys(TargetRecvDataSegmentLength="4294967296"), 1,
     "TargetRecvDataSegmentLength: invalid answer 4294967296"),
    ("more than the offered InitiatorRecvDataSegmentLength", "read",
     keys(InitiatorRecvDataSegmentLength="16777215"), 1,
     "InitiatorRecvDataSegmentLength: invalid answer 16777215"),
    ("a digest over RDMA", "read", keys(HeaderDigest="CRC32C"), 1,
     "HeaderDigest: proposed by the target in its last response"),
    ("MaxRecvDataSegmentLength over RDMA", "read", keys(MaxRecvDataSegmentLength="8192"), 0, ""),
    ("iSERHelloRequired unasked", "read", keys(iSERHelloRequired="Yes"), 1,
     "iSERHelloRequired: not allowed from a target in login stage 1"),
    ("MaxAHSLength unasked", "read", keys(MaxAHSLength="65535"), 0, ""),
    ("TaggedBufferForSolicitedDataOnly unasked", "read",
     keys(TaggedBufferForSolicitedDataOnly="Yes"), 1,
     "TaggedBufferForSolicitedDataOnly: not allowed from a target in login stage 1"),
    ("FirstBurstLength beyond MaxBurstLength", "write",
     keys(FirstBurstLength="65536", MaxBurstLength="512"), 0, ""),
    # Lists of targets
    ("TargetName with an escape", "discover",
     targets(raw.text({"TargetName": "iqn.2025-01.x:\033[2J"})), LOGIN_FATAL,
     "iSCSI name: invalid byte 0x1b at offset 14"),
    ("TargetAddress with port 99999", "discover",
     targets(raw.text([("TargetName", NAME), ("TargetAddress", "127.0.0.1:99999,1")])), LOGIN_FATAL,
     "SendTargets: TargetAddress: invalid address '127.0.0.1:99999,1': port must be 1 "),
    ("a list that goes on without a tag", "discover",
     targets(raw.text({"TargetName": NAME}), 0x40), LOGIN_FATAL,
     "Text Response 0x24: not final, but no target tag"),
    ("a list that never ends", "discover",
     targets(raw.text([("TargetName", NAME)] * 200), 0x40, 9), 1,
     "SendTargets: answer too long (4188400 bytes)"),
    ("a list of bytes above 127", "discover", targets(b"\xff\xfe\xfd\0"), LOGIN_FATAL,
     "SendTargets: malformed text"),
    # PDUs that iSER does not have
    ("Data-In", "read", instead(READS, sends(raw.DATA_IN, raw.F | 1, bytes(4096), ttt=raw.NONE)), 1,
     "unexpected Data-In over iSER"),
    ("an R2T", "write", instead(WRITES, sends(raw.R2T, ttt=7, desired=4096)), 1,
     "unexpected R2T over iSER"),
    ("a Data-Out", "read", instead(READS, sends(raw.DATA_OUT)), 1,
     "Data-Out 0x05: wrong direction"),
    ("an initiator's opcode", "read", instead(READS, sends(raw.COMMAND)), 1,
     "SCSI Command 0x01: wrong direction"),
    ("opcode 0x3e", "read", instead(READS, sends(0x3e)), 1, "PDU 0x3e: unknown opcode"),
    # Responses
    ("an unknown tag", "read", instead(READS, sends(raw.RESPONSE, itt=0x777777)), 1,
     "SCSI Response: no command in flight with tag 0x00777777"),
    ("no tag", "read", instead(READS, sends(raw.RESPONSE, itt=NONE)), 1,
     "SCSI Response 0x21: no initiator task tag"),
    ("the same response twice", "read", instead(CAPACITY, None, sends(raw.RESPONSE)), 1,
     ": SCSI Response: no command in flight with tag"),
    ("F is not set", "read", instead(READS, sends(raw.RESPONSE, 0)), 1,
     "SCSI Response 0x21: F is not set"),
    ("sense longer than its segment", "read",
     instead(READS, sends(raw.RESPONSE, data=b"\xff\xff\x70", status=2)), 1,
     "sense: 65535 bytes in a data segment of 3"),
    ("sense of one byte", "read", instead(READS, sends(raw.RESPONSE, data=b"\0", status=2)), 1,
     "sense: 0 bytes in a data segment of 1"),
    ("sense of 8000 bytes without a meaning", "read",
     instead(READS, sends(raw.RESPONSE, data=b"\x1f\x40" + b"\xff" * 8000, status=2)), 1,
     "CHECK CONDITION without valid sense data"),
    ("a segment that fills the buffer", "read",
     instead(READS, data(), sends(raw.RESPONSE, data=bytes(8192))), 0, ""),
    ("a segment of 8193 bytes", "read",
     instead(READS, data(), sends(raw.RESPONSE, data=bytes(8193))), 1,
     "SCSI Response 0x21: data segment of 8193 bytes (at most 8192)"),
    ("CHECK CONDITION without sense", "read", instead(READS, sends(raw.RESPONSE, status=2)), 1,
     "CHECK CONDITION without valid sense data"),
    ("status 0x55", "read", instead(READS, sends(raw.RESPONSE, status=0x55)), 1,
     "unknown status (0x55)"),
    ("response 0x80", "read", instead(READS, sends(raw.RESPONSE, response=0x80)), 1,
     "target refused the command, response 0x80"),
    ("StatSN", "read", put(raw.RESPONSE, stat_sn=0x80000000), 0, ""),
    ("a window that contradicts itself", "read", put(raw.RESPONSE, exp_cmd_sn=0x7fffffff), 0, ""),
    # Residuals
    ("no data and GOOD", "read", instead(READS, sends(raw.RESPONSE)), 1,
     "READ at 0: short read: 0 of 4096 bytes"),
    ("half of the data and GOOD", "read", instead(READS, data(count=2048), sends(raw.RESPONSE)), 1,
     "READ at 0: short read: 2048 of 4096 bytes"),
    ("an underflow beyond the read", "read",
     instead(READS, sends(raw.RESPONSE, 0x82, residual=4097)), 1,
     "residual: underflow of 4097 bytes in a transfer of 4096"),
    ("an underflow of 4 GiB", "read",
     instead(READS, sends(raw.RESPONSE, 0x82, residual=NONE)), 1,
     "residual: underflow of 4294967295 bytes in a transfer of 4096"),
    ("an overflow of 4 GiB", "read",
     instead(READS, data(), sends(raw.RESPONSE, 0x84, residual=NONE)), 0, ""),
    ("both residual flags", "read", instead(READS, sends(raw.RESPONSE, 0x86, residual=1)), 1,
     "SCSI Response 0x21: overflow and underflow are both set"),
    ("an underflow beyond the write", "write",
     instead(WRITES, sends(raw.RESPONSE, 0x82, residual=16385)), 1,
     "residual: underflow of 16385 bytes in a transfer of 16384"),
    ("an underflow of the whole write", "write",
     instead(WRITES, sends(raw.RESPONSE, 0x82, residual=16384)), 1,
     "WRITE at 0: short write: 16384 of 16384 bytes not written"),
    ("an underflow of immediate data", "short write",
     instead(WRITES, sends(raw.RESPONSE, 0x82, residual=512)), 1,
     "WRITE at 0: short write: 512 of 4096 bytes not written"),
    ("GOOD to a write whose data was not read", "write", instead(WRITES, sends(raw.RESPONSE)), 1,
     "WRITE at 0: short write: 16384 of 16384 bytes not written"),
    ("GOOD to a write whose data was read in half", "write",
     instead(WRITES, fetch(count=8192), sends(raw.RESPONSE)), 1,
     "WRITE at 0: short write: 8192 of 16384 bytes not written"),
    # STags that are invalidated
    ("the command's", "read", instead(READS, data(), sends(raw.RESPONSE, stag=own)), 0, ""),
    ("another one", "read",
     instead(READS, sends(raw.RESPONSE, stag=lambda request: request.into[0] + 1)), 1,
     "iwarp: protocol error by the peer: RDMAP: the STag cannot be invalidated"),
    ("STag 0", "read", instead(READS, sends(raw.RESPONSE, stag=0)), 1,
     "iwarp: protocol error by the peer: RDMAP: the STag cannot be invalidated"),
    ("that of a command that goes on", "read",
     instead(READS, sends(raw.NOP_IN, itt=NONE, ttt=NONE, stag=own)), 1,
     "invalidated, which is not the command's"),
    ("that of a write", "write",
     instead(WRITES, fetch(), sends(raw.RESPONSE, stag=lambda request: request.out[0])), 0, ""),
    ("the same one twice", "read",
     instead(CAPACITY, data(count=32), sends(raw.RESPONSE, stag=own),
             sends(raw.NOP_IN, itt=NONE, ttt=NONE, stag=own)), 1,
     ": iwarp: protocol error by the peer: RDMAP: the STag cannot be invalidated"),
    ("one that is written afterwards", "read",
     instead(CAPACITY, data(count=32), sends(raw.RESPONSE, stag=own), data(count=32)), 1,
     ": iwarp: protocol error by the peer: DDP: invalid STag"),
    ("by a message of no bytes", "read", instead(READS, nothing), 1,
     "iSER: message of 0 bytes is shorter than its header"),
    # Memory
    ("data below the memory", "read", instead(READS, data(at=-1)), 1,
     "iwarp: protocol error by the peer: DDP: outside the bounds of the STag"),
    ("data beyond the memory", "read", instead(READS, data(at=1)), 1,
     "iwarp: protocol error by the peer: DDP: outside the bounds of the STag"),
    ("more data than exposed", "read", instead(READS, data(count=4097)), 1,
     "iwarp: protocol error by the peer: DDP: outside the bounds of the STag"),
    ("one byte behind the memory", "read", instead(READS, data(at=4096, count=1)), 1,
     "iwarp: protocol error by the peer: DDP: outside the bounds of the STag"),
    ("an offset that wraps", "read", instead(READS, at(WRAPS, 4096)), 1,
     "iwarp: protocol error by the peer: DDP: tagged offset wraps around"),
    ("an offset from 0", "read", instead(READS, at(0, 4096)), 1,
     "iwarp: protocol error by the peer: DDP: outside the bounds of the STag"),
    ("another STag", "read", instead(READS, data(stag=1)), 1,
     "iwarp: protocol error by the peer: DDP: invalid STag"),
    ("an STag of another index", "read", instead(READS, data(stag=0x100)), 1,
     "iwarp: protocol error by the peer: DDP: invalid STag"),
    ("an RDMA Read of the memory of a read", "read",
     instead(READS, lambda request, _: Read(*request.into, 4096)), 1,
     "iwarp: protocol error by the peer: RDMAP: access right missing for the STag"),
    ("an RDMA Write to the memory of a write", "write",
     instead(WRITES, lambda request, _: Write(*request.out, bytes(16))), 1,
     "iwarp: protocol error by the peer: RDMAP: access right missing for the STag"),
    ("an RDMA Read beyond the memory", "write", instead(WRITES, fetch(count=16385)), 1,
     "iwarp: protocol error by the peer: RDMAP: outside the bounds of the STag"),
    ("an RDMA Read of 4 GiB", "write", instead(WRITES, fetch(count=NONE)), 1,
     "iwarp: protocol error by the peer: RDMAP: outside the bounds of the STag"),
    ("an RDMA Read below the memory", "write", instead(WRITES, fetch(at=-4)), 1,
     "iwarp: protocol error by the peer: RDMAP: outside the bounds of the STag"),
    ("an RDMA Read with another STag", "write", instead(WRITES, fetch(stag=1)), 1,
     "iwarp: protocol error by the peer: RDMAP: invalid STag"),
    ("data of a command that has ended", "read",
     instead(CAPACITY, data(count=32), sends(raw.RESPONSE), data(count=32)), 1,
     ": iwarp: protocol error by the peer: DDP: invalid STag"),
    ("data to a command without any", "short write",
     instead(WRITES, lambda request, _: Segment(tagged(RDMA_WRITE, *request.out, b"x"))), 1,
     "iwarp: protocol error by the peer: DDP: invalid STag"),
    # Other PDUs
    ("a flood of pings", "read",
     instead(READS, *[sends(raw.NOP_IN, itt=NONE, ttt=7)] * 4000, None), 1,
     "the target requests responses without receiving them"),
    ("a NOP-In with more data than it has", "read",
     instead(READS, changed(sends(raw.NOP_IN, itt=NONE, ttt=1), size(0xffffff))), 1,
     "iSER: message of 76 bytes, but PDU of 48, 0 and 16777215"),
    ("a Reject without its header", "read",
     instead(READS, sends(raw.REJECT, itt=NONE)), 1, "Reject 0x3f: rejected header is missing"),
    ("a drop of the connection", "read",
     instead(READS, sends(raw.ASYNC, itt=NONE, event=2)), 1, "target dropped the connection"),
    ("a SCSI event with sense beyond it", "read",
     instead(READS, sends(raw.ASYNC, data=b"\xff\xff", itt=NONE, event=0), None), 0, ""),
    ("an unasked Logout Response", "read", instead(READS, sends(raw.LOGOUT_RSP)), 1,
     "unexpected Logout Response"),
    ("an unasked Text Response", "read", instead(READS, sends(raw.TEXT_RSP, ttt=NONE)), 1,
     "unexpected Text Response"),
    ("a second Login Response", "read", instead(READS, sends(raw.LOGIN_RSP, 0x87)), 1,
     "Login Response 0x23: not allowed in this phase"),
    ("a ping's answer is rejected", "ping",
     of(raw.NOP_IN, lambda send: send.parts[1].bhs.__setitem__(0, 0x3f)), 1,
     "ping: Transport endpoint is not connected"),
    ("logout response 3", "read", put(raw.LOGOUT_RSP, response=3), 0, ""),
]


def test():
    with tempfile.NamedTemporaryFile() as source:
        source.write(bytes(16384))
        source.flush()
        check_all(LIES, source.name, IserTarget)


if __name__ == "__main__":
    main(test)
