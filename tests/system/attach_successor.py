#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A write that a middlebox holds while the process that sent it is killed comes too late: the next
attachment of the disk, shared or not and by whatever name, ends its session before it writes. One
that shares the disk and lives keeps its session.

    attach_successor.py shared|alone shared|alone
"""

import os
import signal
import sys

from attach_late_write import Disk, Relay
from attachment import Attachments
from farblock import Config, Farblockd, Scratch, check, eventually, main

OPTIONS = {"shared": ("--shared",), "alone": ()}


def leave_write(attachments, relay, url, options):
    """The write is at the relay, and its process is dead."""
    disk = Disk(attachments, attachments.attach(url, "--via", "socket", "--name", "first",
                                                *options))
    relay.do("hold")
    late = disk.begin("write -P 0x11 0 4k")
    eventually("the write at the relay", lambda: relay.do("hold") > 4096)
    os.kill(attachments.one("first")["pid"], signal.SIGKILL)
    late.kill()
    late.wait()
    eventually("the death of the first", lambda: attachments.one("first")["state"] == "dead")


def test():
    first, second = sys.argv[1:]
    with Scratch() as scratch, Attachments(scratch) as attachments:
        config = Config()
        target = config.target([config.ramdisk("ram", 1 << 20)])
        with Farblockd(scratch, config) as daemon, Relay(target.portals[0]) as relay:
            other = attachments.attach(target.url(), "--via", "socket", "--name", "other",
                                       "--shared")
            before = {s["sid"] for s in daemon.rpc("session.list")}
            url = f"iscsi://{relay.address}/{target.iqn}/0"
            leave_write(attachments, relay, url, OPTIONS[first])
            disk = Disk(attachments, attachments.attach(
                target.url(), "--via", "socket", "--name", "second", *OPTIONS[second]))
            disk.do("write -P 0x22 0 4k")
            relay.do("release")
            eventually("the end of the first's session",
                       lambda: len(daemon.rpc("session.list")) == 2)
            said = disk.do("read -P 0x22 0 4k")
            check("verification" not in said, f"the late write took effect: {said}")
            now = {s["sid"] for s in daemon.rpc("session.list")}
            check(before <= now, f"the session of the one that lives was ended: {before} {now}")
            records = [f for f in os.listdir(attachments.run_dir) if f.endswith(".nexuses")]
            check(len(records) == 2, f"{records}")
            attachments.detach("second")
            attachments.detach("other")


if __name__ == "__main__":
    main(test)
