#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Proxmox' "ZFS over iSCSI" with LIO: through rollback, template, clone, a deletion that fails and a
restore, each LUN has the data of its volume."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
from targetcli_calls import Proxmox, Targetcli  # noqa: E402
from volumes import Volumes, check_same, filesystem, install  # noqa: E402

DISK, BASE, CLONE = "vm-100-disk-0", "base-100-disk-0", "vm-101-disk-0"


def roll_back(scratch, proxmox, volumes, first):
    volumes.create(DISK)
    proxmox.create_lu(DISK)
    install(proxmox.url(DISK), first)
    before = volumes.snapshot(DISK, "before")
    install(proxmox.url(DISK), filesystem(scratch, "upgraded"))
    proxmox.delete_lu(DISK)
    volumes.rollback(DISK, before)
    proxmox.create_lu(DISK)
    check_same(scratch, proxmox.url(DISK), first, "rollback")


def make_template_and_clone(scratch, proxmox, volumes, first):
    proxmox.delete_lu(DISK)
    volumes.rename(DISK, BASE)
    proxmox.create_lu(BASE)
    volumes.create(CLONE, volumes.snapshot(BASE, "__base__"))
    proxmox.create_lu(CLONE)
    for name in (BASE, CLONE):
        check_same(scratch, proxmox.url(name), first, "template and clone")
    own = filesystem(scratch, "clone")
    install(proxmox.url(CLONE), own)
    check_same(scratch, proxmox.url(BASE), first, "what the clone writes")
    return own


def fail_to_destroy(scratch, proxmox, own):
    """zfs does not destroy a volume with dependents; the LUN is created again."""
    proxmox.delete_lu(CLONE)
    proxmox.create_lu(CLONE)
    check_same(scratch, proxmox.url(CLONE), own, "a volume that stays")


def restore(scratch, proxmox, volumes, first):
    proxmox.delete_lu(CLONE)
    volumes.destroy(CLONE)
    volumes.create(CLONE, first)  # a volume received with its data
    proxmox.create_lu(CLONE)
    check_same(scratch, proxmox.url(CLONE), first, "restore")


def main():
    with farblock.Scratch() as scratch, Volumes(scratch) as volumes:
        config = farblock.Config()
        target = config.target([])
        first = filesystem(scratch, "installed")
        with farblock.Farblockd(scratch, config) as daemon:
            proxmox = Proxmox(Targetcli(f"{farblock.SOURCE}/etc", daemon), target, volumes)
            roll_back(scratch, proxmox, volumes, first)
            own = make_template_and_clone(scratch, proxmox, volumes, first)
            fail_to_destroy(scratch, proxmox, own)
            restore(scratch, proxmox, volumes, first)
            for name in (CLONE, BASE):
                proxmox.delete_lu(name)
            farblock.check(not proxmox.targetcli.luns(), "LUNs are left")
    return 0


if __name__ == "__main__":
    farblock.main(main)
