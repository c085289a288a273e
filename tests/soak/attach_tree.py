#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""attach --via fuse: 50,000 files are copied to ext4 on a LUN and compared, while its target is
killed and started again, twice in each; over TCP, iSER and SRP. Needs root.

    attach_tree.py [--files N] [TRANSPORT...]
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import file_tree  # noqa: E402
from attachment import Attachments, Portals  # noqa: E402
from farblock import Config, Farblockd, Scratch, Skip, check, main, run  # noqa: E402

MIB = 1 << 20
SIZE = 1024 * MIB


class Mount:
    """A mount; one that a failure leaves waiting for a target that is gone is let go."""

    def __init__(self, device, at):
        self.device, self.at = device, at

    def __enter__(self):
        run(["mount", self.device, self.at])

    def __exit__(self, kind, *_):
        run(["umount", *(["-l"] if kind else []), self.at])


def tree_on(scratch, attachments, daemon, device, tree, what):
    at, restarts = scratch.file("mnt"), file_tree.Restarts(daemon, attachments)
    quarter = tree.bytes // 4
    run(["mkfs.ext4", "-q", "-F", device])
    with Mount(device, at):
        restarts.during(f"{what}: copy", file_tree.copying(tree.path, at), "written",
                        (quarter, 3 * quarter))
    with Mount(device, at):  # its page cache has gone
        restarts.during(f"{what}: compare", file_tree.comparing(tree.path, at), "read",
                        (quarter, 3 * quarter))
    run(["e2fsck", "-fn", device])


def test():
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=50000)
    parser.add_argument("transports", nargs="*", default=["tcp", "iser", "srp"])
    options = parser.parse_args()
    if os.geteuid() or not os.path.exists("/dev/fuse") or not os.path.exists("/dev/loop-control"):
        raise Skip("needs root, FUSE and loop devices")
    with Scratch() as scratch, Attachments(scratch) as attachments:
        tree = file_tree.Tree(scratch.file("tree"), options.files)
        os.mkdir(scratch.file("mnt"))
        config = Config()
        portals = Portals(config, [config.fileio("disk", scratch.file("disk.img"), SIZE)])
        with Farblockd(scratch, config) as daemon:
            for transport in options.transports:
                device = attachments.attach(*portals.words(transport), "--via", "fuse",
                                            "--name", "disk")
                tree_on(scratch, attachments, daemon, device, tree, transport)
                attachments.detach("disk")
                check(attachments.list() == [], f"left: {attachments.list()}")


main(test)
