# SPDX-License-Identifier: BSD-2-Clause
"""Volumes as those of ZFS: block devices below a folder, with snapshots, clones and rollback. Each is
a loop device; needs root."""

import os
import shutil

from farblock import Skip, check, run

SIZE = 2 << 20


def filesystem(scratch, label):
    """An image with ext4 and this label, as a guest's disk."""
    image = scratch.file(f"{label}.ext4", size=SIZE)
    run(["mkfs.ext4", "-q", "-L", label, image])
    return image


class Volumes:
    """The pool `tank`, whose volumes have their nodes in self.folder."""

    def __init__(self, scratch):
        if os.geteuid():
            raise Skip("no loop device can be made here")
        self.scratch, self.loops = scratch, {}
        self.folder = scratch.file("zvol/tank")
        os.makedirs(self.folder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for name in list(self.loops):
            self.destroy(name)

    def device(self, name):
        return f"{self.folder}/{name}"

    def create(self, name, image=None):
        """An empty one, or with the content of image; returns its device."""
        path = self.scratch.file(f"{name}.data", size=SIZE)
        if image:
            shutil.copyfile(image, path)
        self.loops[name] = run(["losetup", "--find", "--show", path]).stdout.strip()
        os.symlink(self.loops[name], self.device(name))
        return self.device(name)

    def snapshot(self, name, to):
        """Returns the image that clone and rollback take."""
        image = self.scratch.file(f"{name}@{to}")
        with open(self.loops[name], "rb") as data, open(image, "wb") as out:
            out.write(data.read())
        return image

    def rollback(self, name, image):
        """As zfs, only while nobody has the volume open."""
        disk = os.open(self.loops[name], os.O_RDWR | os.O_EXCL)
        with open(disk, "wb") as out, open(image, "rb") as data:
            out.write(data.read())

    def rename(self, name, to):
        self.loops[to] = self.loops.pop(name)
        os.rename(self.device(name), self.device(to))

    def destroy(self, name):
        os.unlink(self.device(name))
        run(["losetup", "--detach", self.loops.pop(name)])


def read(scratch, url):
    """The whole LUN, as its initiator reads it."""
    path = scratch.file("read.out")
    run(["farblock-initiator", "read", url, "-o", path])
    with open(path, "rb") as data:
        return data.read()


def install(url, image):
    """What a guest writes to its disk through its LUN."""
    run(["farblock-initiator", "write", url, "-i", image, "--force"])


def check_same(scratch, url, image, what):
    with open(image, "rb") as data:
        check(read(scratch, url) == data.read(), f"{what}: {url} does not have the data of {image}")
