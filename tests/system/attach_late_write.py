#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A write that a middlebox holds while its path is given up comes too late: what was written to its
block over the other path meanwhile stays. Over TCP and iSER, through one target (a login with the
lost path's names ends its session) and through two (REMOVE I_T NEXUS does).

    attach_late_write.py iscsi|iser same|other
"""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import Config, Farblockd, Scratch, check, eventually, main  # noqa: E402

RELAY = os.path.join(os.path.dirname(HERE), "pathloss", "relay.py")


class Relay:
    """A path through relay.py."""

    def __init__(self, portal):
        self.address = f"127.0.0.2:{portal[1]}"
        self.process = subprocess.Popen(
            [sys.executable, RELAY, "127.0.0.2", portal[0], str(portal[1])],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()  # ready

    def do(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


class Disk:
    def __init__(self, attachments, url):
        self.attachments, self.url = attachments, url

    def begin(self, command):
        return subprocess.Popen(["qemu-io", "-f", "raw", "-c", command, self.url],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def do(self, command):
        said = self.begin(command).communicate()[0]
        check("rror" not in said and "failed" not in said, f"{command}: {said}")
        return said

    def path(self):
        return self.attachments.one("disk")["paths"][0]

    def write_by_the_first_path(self, command):
        """Repeated until the first path takes it, which answers nothing."""
        while True:
            before = self.path()["commands"]
            write = self.begin(command)
            eventually("the end of the write, or that the first path has it",
                       lambda: write.poll() is not None or self.path()["commands"] > before)
            if self.path()["commands"] > before:
                return write


def test():
    scheme, groups = sys.argv[1:]
    with Scratch() as scratch, Attachments(scratch) as attachments:
        config = Config()
        ram = config.ramdisk("ram", 1 << 20)
        first = config.target([ram])
        second = first if groups == "same" else config.target([ram])
        with Farblockd(scratch, config), Relay(first.portals[0]) as relay:
            url = attachments.attach(
                f"{scheme}://{relay.address}/{first.iqn}/0",
                f"{scheme}://127.0.0.1:{second.portals[0][1]}/{second.iqn}/0",
                "--policy", "round-robin", "--via", "socket", "--name", "disk")
            disk = Disk(attachments, url)
            eventually("the first path", lambda: disk.path()["state"] == "up")
            relay.do("hold")
            late = disk.write_by_the_first_path("write -P 0x11 0 4k")
            eventually("the write at the relay", lambda: relay.do("hold") > 4096)
            check(late.wait() == 0, "the write was not repeated")
            disk.do("write -P 0x22 0 4k")
            relay.do("release")
            eventually("the first path's return", lambda: disk.path()["state"] == "up")
            said = disk.do("read -P 0x22 0 4k")
            check("verification" not in said, f"the late write took effect: {said}")
            attachments.detach("disk")


if __name__ == "__main__":
    main(test)
