#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""attach --foreground --keep-trying waits for a target that is away, for a LUN that does not exist
yet, and for SIGTERM."""

import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from initiator import end, start  # noqa: E402
from farblock import Config, Farblockd, Scratch, check, eventually, main  # noqa: E402


def says_why(process, why):
    line = next(line for line in process.stderr if ": waiting: " in line)
    check(why in line, f"instead of '{why}': {line}")


def begins(attachments, url):
    """It has said that nobody listens, and waits."""
    process = start("attach", url, "--foreground", "--keep-trying", "--via", "socket", "--name",
                    "disk", "--run-dir", attachments.run_dir)
    says_why(process, "refused")
    return process


def test():
    with Scratch() as scratch, Attachments(scratch) as attachments:
        config = Config()
        target = config.target([config.ramdisk("disk", 16 << 20)])
        config.ramdisk("later", 16 << 20)
        process = begins(attachments, target.url())
        process.send_signal(signal.SIGTERM)
        end(process)
        process = begins(attachments, target.url(1))
        with Farblockd(scratch, config) as daemon:
            says_why(process, "no LUN 1")
            daemon.rpc("tree.run", command="create", path=f"/iscsi/{target.iqn}/tpg1/luns",
                       named={"storage_object": "/backstores/ramdisk/later", "lun": "1"})
            eventually("it is attached", lambda: [a["state"] for a in attachments.list()] ==
                       ["attached"])
            process.send_signal(signal.SIGTERM)
            end(process)
        check(attachments.list() == [], "it is detached")


main(test)
