#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator against a disk that lies in its SCSI data: lists, pages and capacities are
read up to what came, and values that no disk has are refused in words."""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import main  # noqa: E402
from hostile_target import (CAPACITY_10, CAPACITY_16, EXTENDED_COPY, INQUIRY,  # noqa: E402
                            MODE_SENSE_6, PR_IN, PR_OUT, REPORT_LUNS, STATUS, UNMAP, Target, both,
                            check_all, refuses, says, to)
import iscsi_raw as raw  # noqa: E402

MAKE = Target


def capacity(last, size):
    return says(CAPACITY_16, struct.pack(">QI20x", last, size))


def thin(*more):
    """A disk with UNMAP, and further lies."""
    return both(says(CAPACITY_16, struct.pack(">QI2xB17x", 2047, 512, 0x80)),
                page(0xb2, 4, b"\0\x80\2\0"), *more)


def good(*opcodes):
    """GOOD at once, without any data."""
    return to(opcodes, lambda itt: raw.Pdu(raw.RESPONSE, itt=itt))


def pr(action, length, body):
    return says(PR_IN, struct.pack(">II", 1, length) + body, action)


def registration(length, port, key=7):
    """Of READ FULL STATUS; length: ADDITIONAL DESCRIPTOR LENGTH."""
    body = struct.pack(">Q4xBB4xHI", key, 0, 1, 1, length) + port
    return pr(3, len(body), body)


def copyable(*more):
    """A disk that EXTENDED COPY can name, and further lies."""
    return both(page(0x83, 20, b"\1\3\0\x10" + bytes(range(0x60, 0x70))), *more)


def mode(data):
    return says(MODE_SENSE_6, data)


def luns(length, count, entry=bytes(8)):
    return says(REPORT_LUNS, struct.pack(">I4x", length) + entry * count)


def lists(answer):
    """REPORT LUNS of 600 addresses, of which the last one is LUN 0. answer: of the list and the
    number of bytes asked for makes the pieces that are sent, or None for no answer."""
    whole = struct.pack(">I4x", 8 * 600) + b"\xff" * 8 * 599 + bytes(8)

    def lie(_, head, answers):
        if head[0] & 0x3f != raw.COMMAND or head[32] != REPORT_LUNS:
            return None
        pieces, was = answer(whole, int.from_bytes(head[38:42], "big")), answers[0]
        return [raw.Pdu(raw.DATA_IN, raw.F | STATUS if i == len(pieces) - 1 else raw.F, itt=was.itt,
                        ttt=raw.NONE, data=data, data_sn=i, stat_sn=was.stat_sn,
                        exp_cmd_sn=was.exp_cmd_sn, max_cmd_sn=was.max_cmd_sn)
                for i, data in enumerate(pieces or ())]
    return lie


def at_most_8192(whole, asked):
    """As istgt."""
    return [whole[:asked]] if asked <= 8192 else None


def beginning_again(whole, asked):
    """As SPDK: all bytes that were asked for, each 64 KiB at offset 0 and from the beginning."""
    return [whole.ljust(asked, b"\0")[:min(65536, asked - at)] for at in range(0, asked, 65536)]


def page(code, length, body):
    return says(INQUIRY, struct.pack(">BBH", 0, code, length) + body, code)


LIES = [
    # READ CAPACITY
    ("blocks of 0 bytes", "read",
     capacity(7, 0), 1,
     "LUN 0: READ CAPACITY: unsupported block size: 0 bytes"),
    ("blocks of 1 byte", "read",
     capacity(7, 1), 1,
     "LUN 0: READ CAPACITY: unsupported block size: 1 bytes"),
    ("blocks of 520 bytes", "read",
     capacity(7, 520), 1,
     "LUN 0: READ CAPACITY: unsupported block size: 520 bytes"),
    ("blocks of 2 GiB", "read",
     capacity(7, 1 << 31), 1,
     "LUN 0: READ CAPACITY: unsupported block size: 2147483648 bytes"),
    ("a last block of 2^64 - 1", "read",
     capacity((1 << 64) - 1, 512), 1,
     "LUN 0: READ CAPACITY: invalid last block: 18446744073709551615"),
    ("a last block of 2^55", "inquiry",
     capacity(1 << 55, 512), 1,
     "LUN 0: READ CAPACITY: invalid last block: 36028797018963968"),
    ("a disk of one block", "read",
     capacity(0, 512), 2,
     "--length 4096: only 512 bytes from offset 0 to the end"),
    ("a last block of FFFFFFFFh where READ CAPACITY(16) is refused", "read",
     both(says(CAPACITY_10, struct.pack(">II", 0xffffffff, 512)), refuses(CAPACITY_16)), 1,
     "LUN 0: READ CAPACITY: no number of blocks: READ CAPACITY(10) refers to READ CAPACITY"),
    ("READ CAPACITY(16) of 11 bytes", "read", says(CAPACITY_16, bytes(11)), 0, ""),
    ("no capacity", "read", both(says(CAPACITY_10, b""), says(CAPACITY_16, b"")), 1,
     "LUN 0: READ CAPACITY: short answer: 0 bytes"),
    ("physical blocks of 2^15 blocks", "capacity",
     says(CAPACITY_16, struct.pack(">QIxB18x", 2047, 512, 0xff)), 0, "16777216 bytes"),
    ("an aligned block beyond the end", "capacity",
     says(CAPACITY_16, struct.pack(">QI2x2B16x", 7, 65536, 0x3f, 0xff)), 0, ""),
    # MODE SENSE
    ("no mode data", "read", good(MODE_SENSE_6), 0, ""),
    ("1 byte of mode data", "read", mode(b"\xff"), 0, ""),
    ("block descriptors of 255 bytes", "read", mode(b"\xff\0\0\xff" + bytes(20)), 0, ""),
    ("a caching page of 255 bytes", "read", mode(b"\xff\0\0\0\x08\xff\x04"), 0, ""),
    ("a caching page of 1 byte", "read", mode(b"\5\0\0\0\x08"), 0, ""),
    ("mode data of all ones", "read", mode(b"\xff" * 192), 0, ""),
    # PERSISTENT RESERVE IN
    ("no keys", "report", says(PR_IN, b"", 0), 1, "PERSISTENT RESERVE IN: short answer: 0 bytes"),
    ("keys of 7 bytes", "report", says(PR_IN, bytes(7), 0), 1,
     "PERSISTENT RESERVE IN: short answer: 7 bytes"),
    ("keys of 4 GiB", "report", pr(0, 0xffffffff, bytes(8)), 0,
     "there are more keys than the answer has room for"),
    ("keys of 9 bytes", "report", pr(0, 9, bytes(16)), 0, ""),
    ("a reservation of 7 bytes", "report", says(PR_IN, bytes(7), 1), 1,
     "PERSISTENT RESERVE IN: short answer: 7 bytes"),
    ("a reservation of 4 GiB", "report", pr(1, 0xffffffff, b"\xff" * 16), 0, ""),
    ("a reservation of 15 bytes", "report", pr(1, 15, b"\xff" * 15), 0, ""),
    ("capabilities of 7 bytes", "report", says(PR_IN, bytes(7), 2), 0,
     "no capabilities: short answer"),
    ("capabilities of all ones", "report", says(PR_IN, b"\xff" * 8, 2), 0, ""),
    ("a full status of 4 GiB", "report", pr(3, 0xffffffff, b""), 0,
     "the full status is cut off, or malformed, after 0 bytes"),
    ("a registration of 4 GiB", "report", registration(0xffffffff, b""), 0,
     "the full status is cut off, or malformed, after 0 bytes"),
    ("a registration that wraps", "report", registration(0xffffffe8, bytes(24)), 0,
     "the full status is cut off, or malformed, after 0 bytes"),
    ("a name that no terminal may get", "report",
     registration(24, b"\x05\0\0\x14" + b"\x1b[2J" * 5), 0, "?[2J?[2J"),
    ("a name without its end", "report", registration(256, b"\x05\0\0\xfc" + b"x" * 252), 0, ""),
    ("a port of another protocol", "report", registration(3, b"\xff\xff\xff"), 0, ""),
    ("a registration of no port", "report", registration(0, b""), 0, ""),
    ("GOOD before the parameter list is requested", "register", good(PR_OUT), 1,
     "LUN 0: register: PERSISTENT RESERVE OUT: GOOD, but 24 of 24 bytes of its data were n"),
    # UNMAP and its limits
    ("an honest thin disk", "unmap", thin(), 0, ""),
    ("provisioning of 4 bytes", "unmap",
     both(says(CAPACITY_16, struct.pack(">QI2xB17x", 2047, 512, 0x80)), page(0xb2, 0, b"")), 1,
     "LUN 0: unmap: the disk has no UNMAP (LBPU=0)"),
    ("limits of all ones", "unmap", thin(page(0xb0, 60, b"\xff" * 60)), 0, ""),
    ("a grain of 2^32 - 1 blocks", "unmap",
     thin(page(0xb0, 60, bytes(24) + b"\xff" * 8 + bytes(28))), 0, ""),
    ("at most one block, aligned beyond the grain", "unmap",
     thin(page(0xb0, 60, bytes(16) + b"\0\0\0\1" * 3 + b"\xff" * 4 + bytes(28))), 0, ""),
    ("GOOD before its list is requested", "unmap", thin(good(UNMAP)), 1,
     "8 blocks at 0: UNMAP: GOOD, but 24 of 24 bytes of its data were not read"),
    # Copies
    ("nothing", "copy", copyable(), 0, "by EXTENDED COPY"),
    ("GOOD before the list of a copy is requested", "copy", copyable(good(EXTENDED_COPY)), 1,
     "EXTENDED COPY: GOOD, but 108 of 108 bytes of its data were not read"),
    ("no EXTENDED COPY", "copy", copyable(refuses(EXTENDED_COPY)), 0, "through memory"),
    # REPORT LUNS
    ("no data", "luns", says(REPORT_LUNS, b""), 1, "REPORT LUNS: short answer: 0 bytes"),
    ("7 bytes", "luns", says(REPORT_LUNS, bytes(7)), 1, "REPORT LUNS: short answer: 7 bytes"),
    ("a length of 4 GiB", "luns", luns(0xffffffff, 1), 0, ""),
    ("a length of 15", "luns", luns(15, 2), 0, ""),
    ("no answer to a request for more than 8192 bytes", "luns", lists(at_most_8192), 0,
     "HOSTILE"),
    ("a list that begins again every 64 KiB", "luns", lists(beginning_again), 0, "HOSTILE"),
    ("forms of address that are unknown", "luns", luns(16, 2, b"\xff" * 8), 0, ""),
    # INQUIRY
    ("standard data of 5 bytes", "inquiry",
     says(INQUIRY, bytes(5)), 1,
     "INQUIRY: short answer: 5 bytes"),
    ("no data and GOOD", "read", good(INQUIRY), 1,
     "LUN 0: INQUIRY: short answer: less than 32 bytes"),
    ("standard data of 31 bytes", "read", says(INQUIRY, bytes(31)), 1,
     "LUN 0: INQUIRY: short answer: less than 32 bytes"),
    ("standard data of bytes that no terminal may get", "inquiry",
     says(INQUIRY, bytes((0, 0, 6, 2, 255, 0, 0, 2)) + b"\x1b" * 28), 0, "...."),
    ("no such unit", "inquiry",
     says(INQUIRY, bytes((0x7f,)) + bytes(35)), 1,
     "no LUN 0 (the luns command lists them)"),
    ("a list of pages of 64 KiB", "inquiry", page(0, 0xffff, bytes((0, 0x80))), 0, ""),
    ("a list of pages without its length", "inquiry", says(INQUIRY, b"\0\0", 0), 0, ""),
    ("another page", "inquiry",
     says(INQUIRY, b"\0\x83\0\0", 0x80), 1,
     "INQUIRY: unexpected answer to page 80"),
    ("a serial number of 64 KiB", "inquiry", page(0x80, 0xffff, b"ab"), 0, ""),
    ("a serial number of no bytes", "inquiry", page(0x80, 0, b""), 0, ""),
    ("a serial number that fills the page", "inquiry", page(0x80, 0xffff, b"x" * 1020), 0, ""),
    ("a designator beyond its page", "inquiry", page(0x83, 8, b"\1\3\0\xff\1\2\3\4"), 0, ""),
    ("designators of no bytes", "inquiry", page(0x83, 1020, b"\1\3\0\0" * 255), 0, ""),
    ("a designator cut in its head", "inquiry", page(0x83, 3, b"\1\3\0"), 0, ""),
    ("text of no printable byte", "inquiry",
     page(0x83, 0x104, b"\2\1\0\xff" + b"\x07" * 255), 0,
     ""),
    ("block limits of 2 bytes", "inquiry", page(0xb0, 2, b"\0\0"), 0, ""),
    ("a transfer of at most one block", "read",
     page(0xb0, 60, bytes(4) + b"\0\0\0\1" + bytes(52)), 0,
     ""),
    ("limits of all ones", "read", page(0xb0, 60, b"\xff" * 60), 0, ""),
]


def test():
    check_all(LIES)


if __name__ == "__main__":
    main(test)
