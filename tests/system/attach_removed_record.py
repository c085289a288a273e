#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The run directory is removed while a disk is attached, and its process is killed then: a write
that a middlebox holds meanwhile comes too late all the same."""

import glob
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
from attach_late_write import Disk, Relay  # noqa: E402
from attachment import Attachments  # noqa: E402
from farblock import Config, Farblockd, Scratch, check, eventually, main  # noqa: E402


def test():
    with Scratch() as scratch, Attachments(scratch) as attachments:
        config = Config()
        target = config.target([config.ramdisk("ram", 1 << 20)])
        records = f"{attachments.run_dir}/*.nexuses"
        with Farblockd(scratch, config) as daemon, Relay(target.portals[0]) as relay:
            url = f"iscsi://{relay.address}/{target.iqn}/0"
            disk = Disk(attachments, attachments.attach(url, "--via", "socket", "--name", "first"))
            pid, client = attachments.one("first")["pid"], attachments.client("first")
            with attachments.stopped("first"):
                shutil.rmtree(attachments.run_dir)
            eventually("the record", lambda: glob.glob(records))
            relay.do("hold")
            client.stdin.write(b"write -P 0x11 0 4k\n")
            client.stdin.flush()
            eventually("the write at the relay", lambda: relay.do("hold") > 4096)
            os.kill(pid, 9)
            client.communicate()
            disk = Disk(attachments, attachments.attach(target.url(), "--via", "socket", "--name",
                                                        "second"))
            disk.do("write -P 0x22 0 4k")
            relay.do("release")
            eventually("the end of the first's session",
                       lambda: len(daemon.rpc("session.list")) == 1)
            said = disk.do("read -P 0x22 0 4k")
            check("verification" not in said, f"the late write took effect: {said}")


if __name__ == "__main__":
    main(test)
