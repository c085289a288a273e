#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator against an SRP target over software iWARP that lies in its login, its IUs,
its list of targets and its use of memory: each lie is refused in words."""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import main  # noqa: E402
from hostile_rdma import (Bytes, Read, Segment, Send, Write, mpa_reject, mpa_reply)  # noqa: E402
from hostile_srp import (LISTED, Response, SrpTarget, Unit, entries, instead, lists,  # noqa: E402
                         login, page, reply, rsp)
from hostile_target import (CAPACITY_16, LOGIN_FATAL, READ_10, READ_16, WRITE_10,  # noqa: E402
                            WRITE_16, both, check_all)
from rdma_raw import (CRC, ENHANCED, MARKERS, READ_REQUEST, READ_RESPONSE, RDMA_WRITE,  # noqa: E402
                      REQUEST_KEY, SEND, TERMINATE, fpdu, tagged, untagged)
from srp_raw import (AER_REQ, CRED_REQ, CRED_RSP, DIOVER, DIUNDER, DOOVER, DOUNDER,  # noqa: E402
                     LOGIN_REJ, LOGIN_RSP, RSP, RSPVALID, SNSVALID, T_LOGOUT)

MAKE = SrpTarget
READS, WRITES, CAPACITY = (READ_10, READ_16), (WRITE_10, WRITE_16), (CAPACITY_16,)
NONE = 0xffffffff


def put(**fields):
    return login(lambda iu: [iu.put(*item) for item in fields.items()] and None)


def accepted(change):
    return login(lambda iu: change(bytes(iu.raw)))


def reject(reason, size=32, opcode=LOGIN_REJ):
    return reply(mpa_reject(bytes(Unit(opcode=opcode, size=32, reason=reason).raw)[:size]))


def unit(opcode, size=16, **fields):
    return lambda _: Send(Unit(opcode=opcode, size=size, **fields))


def response(more=b"", **fields):
    """A RSP to the command, with another tag if that is given."""
    return lambda iu: Send(Response(fields.pop("tag", iu.tag), more, **fields))


def data_at(change, data=bytes(4096)):
    """The data of a read, elsewhere: change(address, key) is where."""
    def made(iu):
        va, key, _ = entries(iu)[0]
        va, key = change(va, key)
        return Write(key & NONE, va, data)
    return made


def read_at(change):
    """An RDMA Read of the data of a write: change(address, key, length)."""
    def made(iu):
        va, key, length = change(*entries(iu)[0])
        return Read(key & NONE, va, length)
    return made


def invalidates(key):
    return lambda iu: Send(Response(iu.tag), stag=key(entries(iu)[0][1]) & NONE)


def after_the_end(iu):
    """Another write to the memory of the command, behind its response."""
    va, key, length = entries(iu)[0]
    return Write(key, va, bytes(length))


class WrongCrc:
    def image(self):
        return b""

    def run(self, peer):
        peer.source.socket.sendall(fpdu(untagged(SEND, bytes(36), peer.msn[0]))[:-4] + b"abcd")


def segment(data):
    return lambda _: Segment(data)


def wire(data):
    return lambda _: Bytes(data)


LIES = [
    ("nothing", "read", None, 0, ""),
    ("nothing", "write", None, 0, ""),
    ("nothing", "short write", None, 0, ""),
    ("nothing", "inquiry", None, 0, "HOSTILE"),
    ("nothing", "luns", None, 0, "HOSTILE"),
    ("nothing", "ping", None, 0, "immediate data up to 8192 bytes"),
    ("nothing", "discover", None, 0, "0002c90300000001"),
    # MPA
    ("a request instead of a reply", "read",
     reply(mpa_reply(bytes(52), key=REQUEST_KEY)), 1,
     "SRP: connect: MPA: not a valid reply frame (RFC 5044 7.1)"),
    ("private data of 65535 bytes", "read", reply(mpa_reply(bytes(52), length=65535)), 1,
     "SRP: connect: MPA: 65535 bytes of private data exceed the limit of 512"),
    ("private data of 513 bytes", "read", reply(mpa_reply(bytes(509))), 1,
     "SRP: connect: MPA: 513 bytes of private data exceed the limit of 512"),
    ("markers", "read", reply(mpa_reply(bytes(52), ENHANCED | MARKERS)), 1,
     "SRP: connect: iwarp: connect: peer requires MPA markers, which are not supported"),
    ("revision 3", "read", reply(mpa_reply(bytes(52), revision=3)), 1,
     "SRP: connect: iwarp: connect: peer replied with another MPA revision"),
    ("enhanced data of 2 bytes", "read", reply(mpa_reply(b"", length=2)), 1,
     "SRP: connect: MPA: announced enhanced data is missing"),
    ("no enhanced data", "read", reply(mpa_reply(bytes(52), flags=0)), 1,
     "SRP: connect: iwarp: protocol error by the peer: its reply lacks the enhanced data"),
    ("16382 reads at once", "read", reply(mpa_reply(bytes(52), ord_=0x3ffe)), 1,
     "SRP: connect: iwarp: protocol error by the peer: its IRD exceeds our limit"),
    ("no private data", "read", reply(mpa_reply(b"")), 1, "SRP: LOGIN_RSP: 0 bytes instead of 52"),
    ("a refusal without private data", "read", reply(mpa_reject(b"")), 1,
     "SRP: connect: iwarp: connect: refused by the peer"),
    # LOGIN_RSP, LOGIN_REJ
    ("a LOGIN_RSP of 51 bytes", "read", accepted(lambda raw: raw[:51]), 1,
     "SRP: LOGIN_RSP: 51 bytes instead of 52"),
    ("another IU", "read", put(opcode=RSP), 1, "SRP: login: IU 0xc1 is not a LOGIN_RSP"),
    ("another tag", "read", accepted(lambda raw: raw[:8] + bytes(8) + raw[16:]), 1,
     "SRP: LOGIN_RSP to another login"),
    ("a request limit of 0", "read", put(delta=0), 1, "SRP: LOGIN_RSP: invalid request limit: 0"),
    ("a request limit of 1", "read", put(delta=1), 1,
     "SRP: LOGIN_RSP: a request limit of 1 (at least 2 are needed"),
    ("a request limit of -1", "read", put(delta=-1), 1,
     "SRP: LOGIN_RSP: invalid request limit: -1"),
    ("a request limit of 2^31 - 1", "read", put(delta=0x7fffffff), 0, ""),
    ("IUs of 0 bytes to the target", "read", put(max_it_iu_len=0), 1,
     "SRP: LOGIN_RSP: IUs of 0 and 512 bytes are too short: at least 64 and 40"),
    ("IUs of 63 bytes to the target", "read", put(max_it_iu_len=63), 1,
     "SRP: LOGIN_RSP: IUs of 63 and 512 bytes are too short: at least 64 and 40"),
    ("IUs of 4 GiB to the target", "write", put(max_it_iu_len=NONE), 0, ""),
    ("IUs of 39 bytes to the initiator", "read", put(max_ti_iu_len=39), 1,
     "SRP: LOGIN_RSP: IUs of 8300 and 39 bytes are too short: at least 64 and 40"),
    ("IUs of 4 GiB to the initiator", "read", put(max_ti_iu_len=NONE), 1,
     "SRP: LOGIN_RSP: the target sends IUs of 4294967295 bytes (at most 8448 are received)"),
    ("no formats of descriptors", "read", put(formats=0), 1,
     "SRP: LOGIN_RSP: the target does not support direct descriptors"),
    ("indirect descriptors alone", "read", put(formats=4), 1,
     "SRP: LOGIN_RSP: the target does not support direct descriptors"),
    ("all formats", "read", put(formats=0xffff), 0, ""),
    ("all flags", "read", put(rsp_flags=0xff), 0, ""),
    ("a reason that is unknown", "read", reject(0xdeadbeef), 1,
     "SRP: login refused, reason 0xdeadbeef: unknown"),
    ("a reason of 0", "read", reject(0), 1,
     "SRP: connect: iwarp: connect: refused by the peer"),
    ("no such port", "read", reject(0x10003), 1,
     "SRP: login refused, reason 0x00010003: the target has no such port, or no ACL for th"),
    ("IUs that are too large, again and again", "read", reject(0x10002), 1,
     "SRP: login refused, reason 0x00010002: the target does not take IUs of that length"),
    ("a LOGIN_REJ of 31 bytes", "read", reject(0x10003, 31), 1,
     "SRP: connect: iwarp: connect: refused by the peer"),
    ("a LOGIN_RSP as a refusal", "read", reject(0, opcode=LOGIN_RSP), 1,
     "SRP: connect: iwarp: connect: refused by the peer"),
    # RSP
    ("an unknown tag", "read", instead(READS, response(tag=0x7777)), 1,
     "SRP: RSP: no command in flight with tag"),
    ("the tag of task management", "read", instead(READS, response(tag=1 << 63)), 1,
     "SRP: RSP: no command in flight with tag"),
    ("the same response twice", "read", instead(CAPACITY, None, response()), 1,
     ": SRP: RSP: no command in flight with tag"),
    ("35 bytes", "read", instead(READS, lambda iu: Send(bytes(Response(iu.tag).raw)[:35])), 1,
     "SRP: IU 0xc1 of 35 bytes instead of 36"),
    ("1 byte", "read", instead(READS, lambda iu: Send(b"\xc1")), 1,
     "SRP: IU 0xc1 of 1 bytes instead of 36"),
    ("no bytes", "read", instead(READS, lambda iu: Send(b"")), 1, "SRP: IU of 0 bytes"),
    ("a message longer than agreed", "read", instead(READS, lambda iu: Send(bytes(9000))), 1,
     "iwarp: protocol error by the peer: DDP: the message is too long for its buffer"),
    ("sense of 4 GiB", "read", rsp(READS, flags=SNSVALID, sense_len=NONE, status=2), 1,
     "SRP: RSP of 36 bytes with 0 of response data and 4294967295 of sense data"),
    ("sense beyond the IU", "read",
     rsp(READS, bytes(18), flags=SNSVALID, sense_len=19, status=2), 1,
     "SRP: RSP of 54 bytes with 0 of response data and 19 of sense data"),
    ("sense and response data that wrap", "read",
     rsp(READS, flags=SNSVALID | RSPVALID, sense_len=NONE, rsp_len=1), 1,
     "SRP: RSP of 36 bytes with 1 of response data and 4294967295 of sense data"),
    ("sense of 255 bytes without a meaning", "read",
     rsp(READS, b"\xff" * 255, flags=SNSVALID, sense_len=255, status=2), 1,
     "CHECK CONDITION without valid sense data"),
    ("a sense length without its flag", "read", rsp(READS, sense_len=NONE, rsp_len=NONE), 0, ""),
    ("response data of 0 bytes", "read", rsp(READS, flags=RSPVALID), 1,
     "SRP: RSP: 0 bytes of response data instead of 4"),
    ("response data of 3 bytes", "read", rsp(READS, bytes(3), flags=RSPVALID, rsp_len=3), 1,
     "SRP: RSP: 3 bytes of response data instead of 4"),
    ("response code 0x55", "read",
     rsp(READS, b"\0\0\0\x55", flags=RSPVALID, rsp_len=4), 1,
     "target refused the command, RSP_CODE 0x55: unknown"),
    ("CHECK CONDITION without sense", "read", rsp(READS, status=2), 1,
     "CHECK CONDITION without valid sense data"),
    ("status 0x55", "read", rsp(READS, status=0x55), 1, "unknown status (0x55)"),
    ("BUSY for ever", "read", rsp(READS, status=8), 1, "BUSY (0x08)"),
    # Residuals
    ("an underflow beyond the read", "read", rsp(READS, flags=DIUNDER, in_residual=4097), 1,
     "SRP: RSP: underflow of 4097 bytes in a transfer of 4096"),
    ("an underflow of 4 GiB", "read", rsp(READS, flags=DIUNDER, in_residual=NONE), 1,
     "SRP: RSP: underflow of 4294967295 bytes in a transfer of 4096"),
    ("an underflow of the whole read", "read",
     rsp(READS, flags=DIUNDER, in_residual=4096), 1, "READ at 0: short read: 0 of 4096 bytes"),
    ("an overflow of 4 GiB", "read", rsp(READS, flags=DIOVER, in_residual=NONE), 0, ""),
    ("both residual flags", "read", rsp(READS, flags=DIOVER | DIUNDER, in_residual=1), 1,
     "READ at 0: short read: 4095 of 4096 bytes"),
    ("a residual of the other direction", "read",
     rsp(READS, flags=DOUNDER, out_residual=NONE), 0, ""),
    ("an underflow beyond the write", "write",
     rsp(WRITES, flags=DOUNDER, out_residual=16385), 1,
     "SRP: RSP: underflow of 16385 bytes in a transfer of 16384"),
    ("an underflow of the whole write", "write",
     rsp(WRITES, flags=DOUNDER, out_residual=16384), 1,
     "WRITE at 0: short write: 16384 of 16384 bytes not written"),
    ("an overflow of a write", "write", rsp(WRITES, flags=DOOVER, out_residual=1), 1,
     "WRITE at 0: short write: 1 of 16384 bytes not written"),
    ("an underflow of immediate data", "short write",
     rsp(WRITES, flags=DOUNDER, out_residual=512), 1,
     "WRITE at 0: short write: 512 of 4096 bytes not written"),
    ("an underflow beyond immediate data", "short write",
     rsp(WRITES, flags=DOUNDER, out_residual=4097), 1,
     "SRP: RSP: underflow of 4097 bytes in a transfer of 4096"),
    ("no data and GOOD", "read", instead(READS, response()), 1,
     "READ at 0: short read: 0 of 4096 bytes"),
    ("half of the data and GOOD", "read",
     instead(READS, data_at(lambda va, key: (va, key), bytes(2048)), response()), 1,
     "READ at 0: short read: 2048 of 4096 bytes"),
    ("GOOD to a write whose data was not read", "write", instead(WRITES, response()), 1,
     "WRITE at 0: short write: 16384 of 16384 bytes not written"),
    ("GOOD to a write whose data was read in half", "write",
     instead(WRITES, read_at(lambda va, key, length: (va, key, length // 2)), response()), 1,
     "WRITE at 0: short write: 8192 of 16384 bytes not written"),
    # Request limit
    ("a delta of 2^31 - 1", "read", rsp(READS, delta=0x7fffffff), 1,
     "SRP: request limit of 2147483710"),
    ("a delta of -2^31", "read", rsp(READS, delta=-0x80000000), 0, ""),
    ("a CRED_REQ of 2^31 - 1", "read", instead(READS, unit(CRED_REQ, delta=0x7fffffff), None), 1,
     "SRP: request limit of 2147483710"),
    ("a flood of CRED_REQ", "read", instead(READS, *[unit(CRED_REQ, delta=1)] * 4000, None), 1,
     "the target requests responses without receiving them"),
    ("a flood of AER_REQ", "read",
     instead(READS, *[unit(AER_REQ, 36, delta=1)] * 4000, None), 1,
     "the target requests responses without receiving them"),
    ("a CRED_REQ of 15 bytes", "read", instead(READS, lambda iu: Send(b"\x81" + bytes(14))), 1,
     "SRP: IU of 15 bytes instead of 16"),
    ("an AER_REQ of 35 bytes", "read", instead(READS, lambda iu: Send(b"\x82" + bytes(34))), 1,
     "SRP: IU 0x82 of 35 bytes instead of 36"),
    ("an AER_REQ with sense of 4 GiB", "read",
     instead(READS, unit(AER_REQ, 36, sense_len=NONE)), 1,
     "SRP: AER_REQ of 36 bytes with 4294967295 of sense data"),
    ("an AER_REQ with sense beyond it", "read",
     instead(READS, unit(AER_REQ, 36, sense_len=1)), 1,
     "SRP: AER_REQ of 36 bytes with 1 of sense data"),
    ("an AER_REQ for another unit", "read",
     instead(READS, unit(AER_REQ, 36, lun=b"\xff" * 8), None), 0, ""),
    # Other IUs
    ("T_LOGOUT of an unknown reason", "read", instead(READS, unit(T_LOGOUT, reason=NONE)), 1,
     "SRP: the target logged out: unknown reason (T_LOGOUT 4294967295)"),
    ("T_LOGOUT of 12 bytes", "read", instead(READS, lambda iu: Send(b"\x80" + bytes(11))), 1,
     "SRP: IU of 12 bytes instead of 16"),
    ("a second LOGIN_RSP", "read", instead(READS, unit(LOGIN_RSP, 52)), 1,
     "SRP: unexpected IU 0xc0"),
    ("an initiator's IU", "read", instead(READS, unit(CRED_RSP)), 1, "SRP: unexpected IU 0x41"),
    ("IU 0xff", "read", instead(READS, unit(0xff)), 1, "SRP: unexpected IU 0xff"),
    # Memory
    ("data below the memory", "read", instead(READS, data_at(lambda va, key: (va - 1, key))), 1,
     "iwarp: protocol error by the peer: DDP: outside the bounds of the STag"),
    ("data beyond the memory", "read", instead(READS, data_at(lambda va, key: (va + 1, key))), 1,
     "iwarp: protocol error by the peer: DDP: outside the bounds of the STag"),
    ("more data than exposed", "read",
     instead(READS, data_at(lambda va, key: (va, key), bytes(4097))), 1,
     "iwarp: protocol error by the peer: DDP: outside the bounds of the STag"),
    ("an address that wraps", "read",
     instead(READS, data_at(lambda va, key: ((1 << 64) - 2048, key))), 1,
     "iwarp: protocol error by the peer: DDP: tagged offset wraps around"),
    ("an unknown key", "read", instead(READS, data_at(lambda va, key: (va, key + 1))), 1,
     "iwarp: protocol error by the peer: DDP: invalid STag"),
    ("key 0", "read", instead(READS, data_at(lambda va, key: (va, 0))), 1,
     "iwarp: protocol error by the peer: DDP: invalid STag"),
    ("key of all ones", "read", instead(READS, data_at(lambda va, key: (va, NONE))), 1,
     "iwarp: protocol error by the peer: DDP: invalid STag"),
    ("data to the memory of a write", "write",
     instead(WRITES, data_at(lambda va, key: (va, key), bytes(16))), 1,
     "iwarp: protocol error by the peer: RDMAP: access right missing for the STag"),
    ("a read of the memory of a read", "read",
     instead(READS, read_at(lambda va, key, length: (va, key, length))), 1,
     "iwarp: protocol error by the peer: RDMAP: access right missing for the STag"),
    ("a read beyond the memory", "write",
     instead(WRITES, read_at(lambda va, key, length: (va, key, length + 1))), 1,
     "iwarp: protocol error by the peer: RDMAP: outside the bounds of the STag"),
    ("a read of 4 GiB", "write",
     instead(WRITES, read_at(lambda va, key, length: (va, key, NONE))), 1,
     "iwarp: protocol error by the peer: RDMAP: outside the bounds of the STag"),
    ("a read of an address that wraps", "write",
     instead(WRITES, read_at(lambda va, key, length: ((1 << 64) - 4, key, 8))), 1,
     "iwarp: protocol error by the peer: RDMAP: tagged offset wraps around"),
    ("a read with an unknown key", "write",
     instead(WRITES, read_at(lambda va, key, length: (va, key + 1, length))), 1,
     "iwarp: protocol error by the peer: RDMAP: invalid STag"),
    ("data of a command that has ended", "read", instead(CAPACITY, None, after_the_end), 1,
     ": iwarp: protocol error by the peer: DDP: invalid STag"),
    ("its key invalidated", "read", instead(READS, invalidates(lambda key: key)), 1,
     "invalidated by the target"),
    ("an unknown key invalidated", "read", instead(READS, invalidates(lambda key: key + 1)), 1,
     "iwarp: protocol error by the peer: RDMAP: the STag cannot be invalidated"),
    # DDP and RDMAP
    ("a read response unasked", "read",
     instead(READS, segment(tagged(READ_RESPONSE, 0x100, 0, b"x"))), 1,
     "iwarp: protocol error by the peer: RDMAP: unexpected opcode"),
    ("MSN 77", "read", instead(READS, segment(untagged(SEND, bytes(36), 77))), 1,
     "iwarp: protocol error by the peer: DDP: message sequence number out of range"),
    ("queue 3", "read", instead(READS, segment(untagged(SEND, bytes(36), 1, queue=3))), 1,
     "iwarp: protocol error by the peer: DDP: invalid queue number"),
    ("a message that begins at 4 GiB", "read",
     instead(READS, segment(untagged(SEND, bytes(36), 2, offset=NONE))), 1,
     "iwarp: protocol error by the peer: DDP: message sequence number out of range"),
    ("a segment of 3 bytes", "read", instead(READS, segment(b"\x41\x43\0")), 1,
     "iwarp: protocol error by the peer: MPA: FPDU length does not match its content"),
    ("a version of DDP", "read", instead(READS, segment(b"\xff" * 40)), 1,
     "iwarp: protocol error by the peer: DDP: invalid version"),
    ("an opcode of RDMAP", "read", instead(READS, segment(untagged(15, bytes(36), 2))), 1,
     "iwarp: protocol error by the peer: RDMAP: unexpected opcode"),
    ("a read request of 4 bytes", "read",
     instead(READS, segment(untagged(READ_REQUEST, bytes(4), 1, queue=1))), 1,
     "iwarp: protocol error by the peer: MPA: FPDU length does not match its content"),
    ("a terminate of no bytes", "read",
     instead(READS, segment(untagged(TERMINATE, b"", 1, queue=2))), 1,
     "iwarp: protocol error by the peer: MPA: FPDU length does not match its content"),
    ("a terminate of all ones", "read",
     instead(READS, segment(untagged(TERMINATE, b"\xff" * 60, 1, queue=2))), 1,
     "iwarp: peer terminated the connection: error (layer 15, type 15, code 0xff)"),
    ("a wrong CRC", "read",
     both(login(lambda _: None, ENHANCED | CRC), instead(READS, lambda _: WrongCrc())), 1,
     "iwarp: protocol error by the peer: MPA: CRC error"),
    ("an FPDU of 65535 bytes", "read", instead(READS, wire(b"\xff" * 70000)), 1,
     "iwarp: protocol error by the peer: DDP: invalid version"),
    ("a write of no bytes with key 0", "read",
     instead(READS, segment(tagged(RDMA_WRITE, 0, 0, b"")), None), 0, ""),
    # Lists of targets
    ("no bytes", "discover", lists(b""), LOGIN_FATAL,
     "discovery: the answer is not farblock's list"),
    ("another page", "discover", lists(page(code=0x83)), LOGIN_FATAL,
     "discovery: the answer is not farblock's list"),
    ("another signature", "discover", lists(page(signature=b"farblocc")), LOGIN_FATAL,
     "discovery: the answer is not farblock's list"),
    ("version 2", "discover", lists(page(version=2)), LOGIN_FATAL,
     "discovery: list of version 2 (only 1 is known)"),
    ("a list of 65535 bytes", "discover", lists(page(length=65535)), LOGIN_FATAL,
     "discovery: list of 65539 bytes of which 67 have come"),
    ("a list of 3 bytes", "discover", lists(page(length=3)), LOGIN_FATAL,
     "discovery: list of 7 bytes of which 67 have come"),
    ("a list that is cut", "discover", lists(page(flags=1)), 0, "more targets"),
    ("an entry without its end", "discover", lists(page(LISTED + b" 127.0.0.1:5555")), LOGIN_FATAL,
     "discovery: entry 1: it has no end"),
    ("an entry of no bytes", "discover", lists(page(b"\0")), LOGIN_FATAL,
     "discovery: entry 1: no target's name"),
    ("no portal", "discover", lists(page(LISTED + b" \0")), LOGIN_FATAL,
     "discovery: entry 1: invalid portal"),
    ("port 99999", "discover", lists(page(LISTED + b" 127.0.0.1:99999\0")), LOGIN_FATAL,
     "discovery: entry 1: invalid portal"),
    ("port 0", "discover", lists(page(LISTED + b" 127.0.0.1:0\0")), LOGIN_FATAL,
     "discovery: entry 1: invalid portal"),
    ("a wildcard", "discover", lists(page(LISTED + b" 0.0.0.0:5555\0")), LOGIN_FATAL,
     "discovery: entry 1: invalid portal"),
    ("an interface of this machine", "discover",
     lists(page(LISTED + b" [fe80::1%lo]:5555\0")), LOGIN_FATAL,
     "discovery: entry 1: invalid portal"),
    ("a name of 31 digits", "discover",
     lists(page(LISTED[:-1] + b" 127.0.0.1:5555\0")), LOGIN_FATAL,
     "discovery: entry 1: no target's name"),
    ("a name with an escape", "discover",
     lists(page(LISTED[:-4] + b"\x1b[2J 127.0.0.1:5555\0")), LOGIN_FATAL,
     "discovery: entry 1: no target's name"),
    ("a portal of 300 bytes", "discover",
     lists(page(LISTED + b" " + b"1" * 300 + b"\0")), LOGIN_FATAL,
     "discovery: entry 1: invalid portal"),
    ("1200 entries", "discover", lists(page((LISTED + b" 127.0.0.1:5555\0") * 1200)), 0, ""),
]


def test():
    with tempfile.NamedTemporaryFile() as source:
        source.write(bytes(16384))
        source.flush()
        check_all(LIES, source.name, SrpTarget)


if __name__ == "__main__":
    main(test)
