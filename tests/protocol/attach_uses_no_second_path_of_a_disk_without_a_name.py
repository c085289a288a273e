#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Two disks that report neither a serial number nor a designator are not taken for two paths of one
disk: the second URL of attach is faulty, and nothing is written by it."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import Scratch, check, main, run  # noqa: E402
from hostile_target import (INQUIRY, RETRIES, WRITE_10, WRITE_16, Target, both, raw,  # noqa: E402
                            says)

NAMELESS = both(says(INQUIRY, b"", 0x80), says(INQUIRY, b"", 0x83))
written = []  # targets


def note_writes(target, head, _):
    if head[0] & 0x3f == raw.COMMAND and head[32] in (WRITE_10, WRITE_16):
        written.append(target)


def test():
    first, second = Target(both(NAMELESS, note_writes)), Target(both(NAMELESS, note_writes))
    with Scratch() as scratch, Attachments(scratch) as attachments:
        device = attachments.attach(first.url("read"), second.url("read"), "--via", "socket",
                                    "--name", "two", "--no-path-retry", "fail",
                                    *RETRIES).split("\n")[-1]
        paths = attachments.one("two")["paths"]
        check([path["state"] for path in paths] == ["up", "faulty"], f"{paths}")
        check("cannot tell whether this is the same disk" in f"{paths[1]}", f"{paths}")
        for _ in range(8):
            run(["qemu-io", "-f", "raw", "-c", "write 0 4096", device], check=False)
        check(first in written, "no write arrived")
        check(second not in written, "the other disk has got a write")
        attachments.detach("two")
    first.close()
    second.close()


if __name__ == "__main__":
    main(test)
