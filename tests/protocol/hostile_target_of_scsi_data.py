#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator against a disk that lies in its SCSI data: lists, pages and capacities are
read up to what came, and values that no disk has are refused in words."""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import main  # noqa: E402
from hostile_target import CAPACITY_16, INQUIRY, REPORT_LUNS, check_all, says  # noqa: E402


def capacity(last, size):
    return says(CAPACITY_16, struct.pack(">QI20x", last, size))


def luns(length, count, entry=bytes(8)):
    return says(REPORT_LUNS, struct.pack(">I4x", length) + entry * count)


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
    # REPORT LUNS
    ("no data", "luns", says(REPORT_LUNS, b""), 1, "REPORT LUNS: short answer: 0 bytes"),
    ("7 bytes", "luns", says(REPORT_LUNS, bytes(7)), 1, "REPORT LUNS: short answer: 7 bytes"),
    ("a length of 4 GiB", "luns", luns(0xffffffff, 1), 0, ""),
    ("a length of 15", "luns", luns(15, 2), 0, ""),
    ("forms of address that are unknown", "luns", luns(16, 2, b"\xff" * 8), 0, ""),
    # INQUIRY
    ("standard data of 5 bytes", "inquiry",
     says(INQUIRY, bytes(5)), 1,
     "INQUIRY: short answer: 5 bytes"),
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
