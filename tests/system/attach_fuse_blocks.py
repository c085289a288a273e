#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""attach --via fuse: a LUN with blocks of 512 and of 4096 bytes is a loop device with such blocks. It
grows with the LUN while it is mounted, and then holds a filesystem of the new size. Needs root."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import file_tree  # noqa: E402
from attachment import Attachments, Portals  # noqa: E402
from farblock import Config, Farblockd, Scratch, Shell, Skip, check, eventually, main, run  # noqa: E402

MIB = 1 << 20
SIZE = 32 * MIB


def size_of(device):
    return int(run(["blockdev", "--getsize64", device]).stdout)


def it_grows(attachments, daemon, name, device):
    Shell(daemon)(f"/backstores/fileio/{name}", "resize", str(4 * SIZE))
    eventually("the new size", lambda: size_of(device) == 4 * SIZE)
    check(attachments.one("disk")["bytes"] == 4 * SIZE, f"{attachments.one('disk')}")


def mounted(device, at, use):
    run(["mount", device, at])
    try:
        use()
    finally:
        run(["umount", at])


def used(scratch, attachments, daemon, words, block, tree):
    name, at = f"disk{block}", scratch.file("mnt")
    device = attachments.attach(*words, "--via", "fuse", "--name", "disk")
    sizes = run(["blockdev", "--getss", "--getsize64", device]).stdout.split()
    check(sizes == [str(block), str(SIZE)], f"{sizes}")
    run(["mkfs.ext4", "-q", "-F", device])
    mounted(device, at, lambda: it_grows(attachments, daemon, name, device))
    run(["e2fsck", "-fp", device])
    run(["resize2fs", device])  # by a mounted one it would need more than root of a container has
    mounted(device, at, lambda: check(file_tree.copying(tree.path, at).wait() == 0, "cp"))
    mounted(device, at, lambda: check(file_tree.comparing(tree.path, at).wait() == 0, "diff"))
    run(["e2fsck", "-fn", device])
    attachments.detach("disk")


def test():
    if os.geteuid() or not os.path.exists("/dev/fuse") or not os.path.exists("/dev/loop-control"):
        raise Skip("needs root, FUSE and loop devices")
    with Scratch() as scratch, Attachments(scratch) as attachments:
        os.mkdir(scratch.file("mnt"))
        tree = file_tree.Tree(scratch.file("tree"), 8000)
        check(tree.bytes > SIZE, "the tree is too small")
        config, blocks = Config(), (512, 4096)
        disks = [config.fileio(f"disk{block}", scratch.file(f"{block}.img"), SIZE,
                               {"block_size": block}) for block in blocks]
        portals = Portals(config, disks)
        with Farblockd(scratch, config) as daemon:
            for lun, block in enumerate(blocks):
                used(scratch, attachments, daemon, portals.words("tcp", lun=lun), block, tree)


main(test)
