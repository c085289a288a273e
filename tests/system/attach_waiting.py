#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""An attached disk outlives a restart of its target without the disk's file: it goes on when the
file appears."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import Config, Farblockd, Scratch, check, eventually, main  # noqa: E402

SIZE = 16 << 20


def test():
    with Scratch() as scratch, Attachments(scratch) as attachments:
        config, path = Config(), scratch.file("disk.img")
        target = config.target([config.fileio("disk", path, SIZE)])
        with Farblockd(scratch, config):
            attachments.attach(target.url(), "--via", "socket", "--name", "disk")
        os.rename(path, path + ".away")
        client = attachments.client("disk")
        client.stdin.write(b"read -P 0 0 4096\n")
        client.stdin.flush()
        with Farblockd(scratch, config) as daemon:
            eventually("it has logged in again", lambda: daemon.rpc("session.list"))
            os.rename(path + ".away", path)
            daemon.rpc("tree.run", command="refresh", path="/")
            out, _ = client.communicate(b"quit\n")
            check(b"read 4096/4096" in out, out)


main(test)
