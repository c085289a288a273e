#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Two attachments with the same initiator name and ISID, as of two copies of a machine, end each
other's sessions: the log says what it may be."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import Config, Farblockd, Scratch, eventually, main  # noqa: E402

HINT = "another initiator the same name and ISID"


def test():
    with Scratch() as scratch, Attachments(scratch) as one, Attachments(scratch) as other:
        other.run_dir = scratch.file("other")
        config = Config()
        target = config.target([config.ramdisk("ram", 1 << 20)])
        with Farblockd(scratch, config):
            for machine in (one, other):
                machine.attach(target.url(), "--via", "socket", "--name", "disk", "--isid",
                               "80aabbccdd01")
            eventually("the hint", lambda: HINT in one.log("disk") and HINT in other.log("disk"))


if __name__ == "__main__":
    main(test)
