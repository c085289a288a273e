#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""attach --via socket: zeroes that have to be fast are written to a disk that unmaps, and refused by
one that would write them: attach_fast_zeroes.py thin|thick."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import Config, Farblockd, Scratch, check, main, run  # noqa: E402

SIZE = 16 << 20
FAST = "write -z -u -n 1M 1M"  # qemu-io's, with NBD_CMD_FLAG_FAST_ZERO


def test():
    is_thin = sys.argv[1] == "thin"
    with Scratch() as scratch, Attachments(scratch) as attachments:
        config = Config()
        attributes = {"emulate_tpu": int(is_thin), "emulate_tpws": int(is_thin)}
        target = config.target([config.fileio("disk", scratch.file("disk.img"), SIZE, attributes)])
        with Farblockd(scratch, config):
            url = attachments.attach(target.url(), "--via", "socket", "--name", "disk")
            run(["nbdinfo", "--can", "fast-zero", url])
            tool = ["qemu-io", "-f", "raw", "-d", "unmap", "-c", "write -P 7 0 4M"]
            said = run([*tool, "-c", FAST, "-c", "read -P 7 0 1M", url], check=False).stdout
            check(("Operation not supported" in said) != is_thin, said)
            run(["qemu-io", "-f", "raw", "-c", "write -z 1M 1M", "-c", "read -P 0 1M 1M", url])
            attachments.detach("disk")


main(test)
