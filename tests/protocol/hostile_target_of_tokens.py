#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator copy between disks of a target that lies about tokens (ODX): what is no token
is refused in words, and the copy goes through memory; a count beyond what was asked is not
believed."""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import iscsi_raw as raw  # noqa: E402
from farblock import main  # noqa: E402
from hostile_target import INQUIRY, check_all, says  # noqa: E402

RECEIVE, DONE, FAILED, RUNNING = 0x84, 0x01, 0x02, 0x11
POPULATE, WRITE = 0x10, 0x11
BLOCKS = 8
LIMITS = struct.pack(">HH16xQQ", 0, 32, 4096, 4096)


def page(body, length=None):
    return b"\0\x8f" + struct.pack(">H", len(body) if length is None else length) + body


def info(action, status=DONE, blocks=BLOCKS, units=0xf1, sense=b"", token=True, sense_len=None,
         token_len=514):
    n = len(sense) if sense_len is None else sense_len
    head = struct.pack(">BBHIBBBBQ8x", action, status, 1, 0, 0, n, n, units, blocks)
    body = head + sense + (struct.pack(">I2x", token_len) + b"\x5a" * 512 if token else bytes(4))
    return struct.pack(">I", len(body)) + body


class Copier:
    """A copy manager with this page, whose answers about populating and writing are these, after
    so many that the work is not done yet."""

    def __init__(self, populated, written=info(WRITE, token=False), about=page(LIMITS), delays=0):
        self.delays = delays
        self.page = says(INQUIRY, about, 0x8f)
        self.populated, self.written = populated, written
        self.last = None

    def __call__(self, target, head, answers):
        if head[0] & 0x3f != raw.COMMAND:
            return None
        if head[32] == 0x83:
            self.last = head[33] & 0x1f
        if head[32] == RECEIVE:
            self.delays -= 1
            if self.delays >= 0:
                return says(RECEIVE, info(self.last, RUNNING, token=False))(target, head, answers)
            which = self.populated if self.last == POPULATE else self.written
            return says(RECEIVE, which)(target, head, answers)
        return self.page(target, head, answers)


def lie(*arguments, **words):
    return Copier(*arguments, **words)


MEMORY = "through memory"
LIES = [
    ("an honest copy manager", "copy", lie(info(POPULATE)), 0, "by token (ODX)"),
    ("one that works in the background", "copy", lie(info(POPULATE), delays=5), 0,
     "by token (ODX)"),
    ("a page of 64 KiB", "copy", lie(info(POPULATE), about=page(LIMITS, 0xffff)), 0, "by token"),
    ("a page that ends in its limits", "copy", lie(info(POPULATE), about=page(LIMITS[:20])), 0,
     MEMORY),
    ("a descriptor beyond the page", "copy",
     lie(info(POPULATE), about=page(struct.pack(">HH", 1, 0xffff) + LIMITS)), 0, MEMORY),
    ("commands beyond their list", "copy",
     lie(info(POPULATE), about=page(LIMITS + struct.pack(">HH", 1, 4) + b"\xff\x83\xff\x10")), 0,
     MEMORY),
    ("no bytes about a token", "copy", lie(b""), 0, "too short (0 bytes)"),
    ("a head of 31 bytes", "copy", lie(info(POPULATE)[:31]), 0, "too short (31 bytes)"),
    ("the answer to another command", "copy", lie(info(WRITE)), 0, "about another command"),
    ("a token that is cut off", "copy", lie(info(POPULATE)[:-1]), 0, "gave no token"),
    ("a token of 4 GiB", "copy", lie(info(POPULATE, token_len=0xffffffff)[:200]), 0,
     "gave no token"),
    ("a token of no bytes", "copy", lie(info(POPULATE, token_len=0)), 0, "gave no token"),
    ("sense data beyond the answer", "copy",
     lie(info(POPULATE, FAILED, sense_len=255, token=False)), 0, "POPULATE TOKEN: "),
    ("a token of no blocks", "copy", lie(info(POPULATE, blocks=0)), 0, "gave no token"),
    ("a token of 2^64 - 1 blocks", "copy", lie(info(POPULATE, blocks=(1 << 64) - 1)), 0,
     "Copied 65536 bytes"),
    ("nothing was written", "copy", lie(info(POPULATE), info(WRITE, blocks=0, token=False)), 0,
     "wrote nothing"),
    ("more was written than asked for", "copy",
     lie(info(POPULATE), info(WRITE, blocks=1 << 40, token=False)), 0, "Copied 65536 bytes"),
    ("written in units that are no blocks", "copy",
     lie(info(POPULATE), info(WRITE, units=0, token=False)), 0, "wrote nothing"),
    ("a state that no standard has", "copy", lie(info(POPULATE, 0x7f)), 0, MEMORY),
]


def test():
    check_all(LIES)


if __name__ == "__main__":
    main(test)
