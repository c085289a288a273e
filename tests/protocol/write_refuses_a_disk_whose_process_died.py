#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""`write` refuses a disk whose attachment died, since its writes may still arrive, until another
attachment has ended them."""

import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import Config, Farblockd, Scratch, check, eventually, main  # noqa: E402


def test():
    with Scratch() as scratch, Attachments(scratch) as attachments:
        config = Config()
        target = config.target([config.ramdisk("ram", 1 << 20)])
        write = "write", target.url(), "-i", scratch.file("data", 512)
        with Farblockd(scratch, config):
            attachments.attach(target.url(), "--via", "socket", "--name", "disk")
            os.kill(attachments.one("disk")["pid"], signal.SIGKILL)
            eventually("its death", lambda: attachments.one("disk")["state"] == "dead")
            told = attachments.command(*write, status=None)
            check("its writes may still arrive" in told, f"write: {told}")
            attachments.attach(target.url(), "--via", "socket", "--name", "disk")
            attachments.detach("disk")
            attachments.command(*write)


if __name__ == "__main__":
    main(test)
