#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A disk that is attached for writing stays the only one's after its run directory was removed, by
whatever path that was given: no second attachment, and `write` is refused."""

import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import Config, Farblockd, Scratch, check, main  # noqa: E402


def stays(attachments, scratch, url, run_dir):
    """run_dir: another path of attachments.run_dir."""
    real, attachments.run_dir = attachments.run_dir, run_dir
    attachments.attach(url, "--via", "socket", "--name", "one")
    with attachments.stopped("one"):
        shutil.rmtree(real)
        told = attachments.command("write", url, "-i", scratch.file("data", 512), status=None)
        check("it is attached on this machine" in told, f"{run_dir}: write: {told}")
        os.mkdir(real, 0o700)
        told = attachments.attach(url, "--via", "socket", "--name", "two", status=None)
        check("is attached on this machine already" in told, f"{run_dir}: attach: {told}")
        told = attachments.command("attached")
        check("one  lost: process" in told, f"{run_dir}: attached: {told}")
    attachments.detach("one")
    attachments.run_dir = real


def test():
    with Scratch() as scratch, Attachments(scratch) as attachments:
        config = Config()
        target = config.target([config.ramdisk("ram", 1 << 20)])
        os.symlink(scratch.path, scratch.file("link"))
        with Farblockd(scratch, config):
            for run_dir in ("run", "run/", "./run", "link/run"):
                stays(attachments, scratch, target.url(), f"{scratch.path}/{run_dir}")


if __name__ == "__main__":
    main(test)
