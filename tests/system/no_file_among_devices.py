#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A device's name that is wrong makes no file in memory below /dev, under any name of that place;
one that exists there, and any file in memory, is served and reported as lost at reboot."""

import ctypes
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
from farblock import Shell, check  # noqa: E402

CLONE_NEWNS, CLONE_NEWUSER, MS_BIND, MS_MOVE, MS_REC, MS_PRIVATE = (
    0x20000, 0x10000000, 4096, 8192, 16384, 1 << 18)
WHY = "lsblk lists devices"


def mount(libc, what, where, kind=None, flags=0):
    if libc.mount(what.encode(), where.encode(), kind, flags, None):
        raise farblock.Skip(f"{where}: mount: {os.strerror(ctypes.get_errno())}")


def own_dev(scratch):
    """Covers /dev, for this process and its children, with a tmpfs of a few nodes."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) and libc.unshare(CLONE_NEWUSER | CLONE_NEWNS):
        raise farblock.Skip("no mount namespace can be made here")
    mount(libc, "none", "/", flags=MS_REC | MS_PRIVATE)
    new = scratch.file("dev")
    os.makedirs(new)
    mount(libc, "tmpfs", new, b"tmpfs")
    for name in ("null", "zero", "urandom"):
        open(f"{new}/{name}", "w").close()
        mount(libc, f"/dev/{name}", f"{new}/{name}", flags=MS_BIND)
    mount(libc, new, "/dev", flags=MS_MOVE)
    os.rmdir(new)
    for name in ("shm", "sub"):
        os.mkdir(f"/dev/{name}")


def refuses(shell, scratch):
    os.symlink("/dev", scratch.file("link"))
    for path in ("/dev/nosuchdisk", "/dev/sub/x.img", scratch.file("link/nosuchdisk"),
                 "/dev/../dev/./nosuchdisk"):
        shell("/backstores/fileio", "create", "z", path, "1M", status=3, text=WHY)
        shell("export", path, "size=1M", "to=iqn.2025-01.org.example:h", status=3, text=WHY)
        check(not os.path.lexists(path), f"{path} was made")
    told = shell("export", "/dev/nosuchdisk", "to=iqn.2025-01.org.example:h", status=3, text=WHY)
    check("size=SIZE" not in told, told)


def test():
    with farblock.Scratch() as scratch:
        own_dev(scratch)
        there = "/dev/there.img"
        with open(there, "wb") as out:
            out.truncate(1 << 20)
        config = farblock.Config()
        with farblock.Farblockd(scratch, config) as daemon:
            shell = Shell(daemon)
            refuses(shell, scratch)
            shell("/backstores/fileio", "create", "odd", there, text="among devices, in memory")
            shell("/backstores/fileio", "create", "ram", "/dev/shm/x.img", "1M",
                  text="is in memory (tmpfs): lost at reboot")
            shell("/backstores/fileio/odd", "info", text="among devices, in memory")
            shell("ls", "/backstores/fileio", text="a file in memory, not a device, lost at reboot")
            done = farblock.run(["farblock", "--socket", daemon.socket_path, "doctor"], check=False)
            check(f"{there} is a file in memory" in done.stdout, done.stdout)
            copy = scratch.file("copy.json")
            shell("saveconfig", copy)
            shell("clearconfig", "confirm=true")
            shell("restoreconfig", copy, status=1, text="among devices, in memory")
            shell("ls", "/backstores/fileio", text="a file in memory, not a device, lost at reboot")


if __name__ == "__main__":
    farblock.main(test)
