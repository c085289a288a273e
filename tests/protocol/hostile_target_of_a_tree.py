#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator discover --tree of a target that lies about its logical units: what one says
wrong is a line, of bytes that a terminal may get, and the others are still shown."""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import main  # noqa: E402
from hostile_target import (CAPACITY_10, CAPACITY_16, INQUIRY, REPORT_LUNS,  # noqa: E402
                            check_all, says)

REPORT_GROUPS = 0xa3


def with_groups(answer):
    """A unit of port group 0 with access states, which are these bytes."""
    standard = says(INQUIRY, bytes((0, 0, 6, 2, 31, 0x10, 0, 2)) + b"EXAMPLE HOSTILE TARGET  1   ")
    names = says(INQUIRY, b"\0\x83\0\x08" + b"\1\x15\0\4\0\0\0\7", 0x83)
    groups = says(REPORT_GROUPS, answer)

    def lie(*words):
        for one in (standard, names, groups):
            one(*words)
    return lie


LIES = [
    ("nothing but the truth", "tree", None, 0, "LUN 0  1.0MiB  EXAMPLE HOSTILE TARGET  naa.6001"),
    ("standard data of 5 bytes", "tree", says(INQUIRY, bytes(5)), 0, "LUN 0"),
    ("names that no terminal may get", "tree",
     says(INQUIRY, bytes((0, 0, 6, 2, 31, 0, 0, 2)) + b"\x1b" * 28), 0, "LUN 0  1.0MiB"),
    ("no such unit", "tree", says(INQUIRY, bytes((0x7f,)) + bytes(35)), 0, "no such LUN"),
    ("a tape", "tree", says(INQUIRY, bytes((1,)) + bytes(35)), 0, "LUN 0  tape"),
    ("a last block of 2^64 - 1", "tree",
     says(CAPACITY_16, struct.pack(">QI20x", (1 << 64) - 1, 512)), 0,
     "READ CAPACITY: no number of blocks"),
    ("blocks of 1 byte", "tree", says(CAPACITY_16, struct.pack(">QI20x", 7, 1)), 0,
     "unsupported block size: 1 bytes"),
    ("a capacity of 3 bytes", "tree", says(CAPACITY_10, bytes(3)), 0, "LUN 0"),
    ("designators beyond their page", "tree",
     says(INQUIRY, b"\0\x83\xff\xff\1\3\0\xff\1\2\3\4", 0x83), 0, "LUN 0  1.0MiB"),
    ("no LUN", "tree", says(REPORT_LUNS, bytes(8)), 0, "no LUN"),
    ("a list of 7 bytes", "tree", says(REPORT_LUNS, bytes(7)), 0,
     "REPORT LUNS: short answer: 7 bytes"),
    ("no byte of port groups", "tree", with_groups(b""), 0, "LUN 0"),
    ("port groups of 4 GiB", "tree", with_groups(b"\xff\xff\xff\xff"), 0, "LUN 0"),
    ("ports beyond the list", "tree",
     with_groups(struct.pack(">IBBHBBBB", 8, 1, 0, 0, 0, 0, 0, 0xff)), 0, "LUN 0"),
    ("a state that no standard has", "tree",
     with_groups(struct.pack(">IBBHBBBB", 8, 9, 0, 7, 0, 0, 0, 0)), 0, "unknown state"),
]


def test():
    check_all(LIES)


if __name__ == "__main__":
    main(test)
