#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A disk without an NAA or EUI designator is attached for writing only once: it is known by its
serial number, through any target, and without one by its target's name and LUN. The lock's name is
safe, whatever the disk says."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import Scratch, check, main  # noqa: E402
from hostile_target import INQUIRY, RETRIES, Target, both, says  # noqa: E402


def disk(serial):
    page = bytes((0, 0x80, 0, len(serial))) + serial if serial else b""
    return both(says(INQUIRY, page, 0x80), says(INQUIRY, b"", 0x83))


SERIALS = (b"", b"    ", b"abcd", b"../../../../tmp/x\n\0/" + b"A" * 200)


def once(attachments, serial):
    """By two portals, as two targets of the same name have them."""
    targets = Target(disk(serial)), Target(disk(serial))
    words = "--via", "socket", "--no-path-retry", "fail", *RETRIES
    attachments.attach(targets[0].url("read"), "--name", "one", *words)
    told = attachments.attach(targets[1].url("read"), "--name", "two", *words, status=None)
    names = [one["name"] for one in attachments.list()]
    check(names == ["one"] and "is attached on this machine already" in told, f"{serial}: {told}")
    attachments.attach(targets[1].url("read"), "--name", "two", "--read-only", *words)
    attachments.detach("two")
    attachments.detach("one")
    for target in targets:
        target.close()


def test():
    with Scratch() as scratch, Attachments(scratch) as attachments:
        for serial in SERIALS:
            once(attachments, serial)
        locks = [name for name in os.listdir(attachments.run_dir) if name.endswith(".disk")]
        check(len(locks) == 3, f"{locks}")  # no serial number, twice
        check(all(re.fullmatch(r"(serial|place)\.[0-9a-f]{32}\.disk", name) for name in locks),
              f"{locks}")


if __name__ == "__main__":
    main(test)
