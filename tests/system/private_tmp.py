#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A service with PrivateTmp has temporary directories that no other program sees and that systemd
removes: no disk is put there, and what is looked for there is told."""

import ctypes
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
from farblock import Shell, check  # noqa: E402

CLONE_NEWNS, CLONE_NEWUSER, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 0x10000000, 4096, 16384, 1 << 18
PLACE = "/var/tmp"  # the scratch folder is in /tmp


def own_mounts(scratch):
    """As systemd makes them: systemd-private-ID-UNIT-RANDOM/tmp, mounted over the folder."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) and libc.unshare(CLONE_NEWUSER | CLONE_NEWNS):
        raise farblock.Skip("no mount namespace can be made here")
    private = os.path.join(scratch.path, "systemd-private-0-farblockd.service-x", "tmp")
    shared = os.path.join(scratch.path, "shared")
    os.makedirs(private)
    os.makedirs(shared)
    libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None)
    os.makedirs(os.path.join(private, "shared"))
    for what, where in ((private, PLACE), (shared, f"{PLACE}/shared")):
        if libc.mount(what.encode(), where.encode(), None, MS_BIND, None):
            raise farblock.Skip(f"{where}: {os.strerror(ctypes.get_errno())}")


def main():
    with farblock.Scratch() as scratch:
        own_mounts(scratch)
        with farblock.Farblockd(scratch, farblock.Config()) as daemon:
            shell = Shell(daemon)
            why = f"its own {PLACE}, which is removed when it stops (PrivateTmp=yes"
            os.symlink(PLACE, scratch.file("link"))
            for path in (f"{PLACE}/x.img", scratch.file("link/x.img")):
                shell("/backstores/fileio", "create", "x", path, "1M", status=8, text=why)
            shell("export", f"{PLACE}/x.img", "size=1M", "to=iqn.2025-01.org.example:h", status=8,
                  text=why)
            check(os.listdir(PLACE) == ["shared"], f"made: {os.listdir(PLACE)}")
            # The shell reads and writes its user's files itself, where its user sees them.
            shell("saveconfig", f"{PLACE}/copy.json")
            shell("apply", f"{PLACE}/copy.json", text="Nothing to do")
            # What an administrator lets through to the machine's own folder is not the service's.
            shell("/backstores/fileio", "create", "y", f"{PLACE}/shared/y.img", "1M")
            shell("/backstores/fileio", "create", "z", scratch.file("z.img"), "1M")
            shell("saveconfig", scratch.file("copy.json"))
    return 0


if __name__ == "__main__":
    farblock.main(main)
