#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""attach --via socket: an image of ext4 with 50,000 files is copied to a LUN by qemu-img and by
nbdcopy, and compared with it, while its target is killed and started again, twice in each; over
TCP, iSER and SRP.

    attach_socket_tree.py [--files N] [TRANSPORT...]
"""

import argparse
import filecmp
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import file_tree  # noqa: E402
from attachment import Attachments, Portals  # noqa: E402
from farblock import Config, Farblockd, Scratch, check, main, program, run  # noqa: E402

MIB = 1 << 20
SIZE = 768 * MIB


def started(*words):
    return subprocess.Popen([program(words[0]), *words[1:]], stdin=subprocess.DEVNULL)


class Copies:
    """Programs that copy an image to a disk's URL, each at work while the target is killed."""

    def __init__(self, scratch, daemon, attachments, image, size):
        self.scratch, self.image = scratch, image
        self.restarts = file_tree.Restarts(daemon, attachments)
        self.marks = (size // 4, size // 2)

    def by_qemu(self, url, what):
        raw = ["-f", "raw"]
        self.restarts.during(f"{what}: qemu-img convert", started(
            "qemu-img", "convert", "-n", *raw, "-O", "raw", self.image, url), "written", self.marks)
        self.restarts.during(f"{what}: qemu-img compare", started(
            "qemu-img", "compare", *raw, "-F", "raw", self.image, url), "read", self.marks)

    def by_nbdcopy(self, url, what):
        self.restarts.during(f"{what}: nbdcopy to the disk", started(
            "nbdcopy", "--flush", self.image, url), "written", self.marks)
        back = self.scratch.file("back.img")
        self.restarts.during(f"{what}: nbdcopy from the disk", started(
            "nbdcopy", url, back), "read", self.marks)
        check(filecmp.cmp(self.image, back, shallow=False), "nbdcopy: it is not what was written")
        run(["e2fsck", "-fn", back])
        os.unlink(back)


def test():
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=50000)
    parser.add_argument("transports", nargs="*", default=["tcp", "iser", "srp"])
    options = parser.parse_args()
    program("nbdcopy")  # skips at once where it is missing
    with Scratch() as scratch, Attachments(scratch) as attachments:
        tree = file_tree.Tree(scratch.file("tree"), options.files)
        image = file_tree.image(scratch.file("tree.img"), tree, SIZE)
        config, count = Config(), 2 * len(options.transports)
        disks = [config.fileio(f"disk{i}", scratch.file(f"disk{i}.img"), SIZE)
                 for i in range(count)]  # each is written once
        portals = Portals(config, disks)
        with Farblockd(scratch, config) as daemon:
            copies = Copies(scratch, daemon, attachments, image, tree.bytes)
            for lun in range(count):
                copy = (copies.by_qemu, copies.by_nbdcopy)[lun % 2]
                transport = options.transports[lun // 2]
                url = attachments.attach(*portals.words(transport, lun=lun), "--via", "socket",
                                         "--name", "disk")
                copy(url, transport)
                attachments.detach("disk")


main(test)
