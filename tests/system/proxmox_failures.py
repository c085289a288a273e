#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Proxmox' "ZFS over iSCSI" with LIO: a volume that is mounted or missing is refused with exit status
1 and the cause on standard error, and nothing that a message suggests erases data."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
from farblock import check  # noqa: E402
from targetcli_calls import Proxmox, Targetcli  # noqa: E402
from volumes import Volumes, check_same, filesystem  # noqa: E402

DISK = "vm-100-disk-0"


def refused(proxmox, cause):
    said = proxmox.create_lu(DISK, status=1)
    check(cause in proxmox.targetcli.errors, f"without {cause!r} on standard error: {said}")
    check("wipefs" not in said, f"it suggests to erase data: {said}")
    proxmox.targetcli(f"ls {proxmox.object(DISK)}", status=1)


def main():
    with farblock.Scratch() as scratch, Volumes(scratch) as volumes:
        config = farblock.Config()
        image = filesystem(scratch, "mounted")
        target = config.target([])
        with farblock.Farblockd(scratch, config) as daemon:
            proxmox = Proxmox(Targetcli(f"{farblock.SOURCE}/etc", daemon), target, volumes)
            refused(proxmox, "No such file or directory")
            device = volumes.create(DISK, image)
            user = os.open(device, os.O_RDONLY | os.O_EXCL)  # as the kernel has a mounted one
            refused(proxmox, "in use")
            os.close(user)
            shell = farblock.Shell(daemon)
            said = shell("/backstores/block", "create", "b", device, status=5, text="ext4")
            check("force=true" in said and "wipefs" not in said, f"farblock suggests {said}")
            proxmox.create_lu(DISK)
            check_same(scratch, proxmox.url(DISK), image, "after the refusals")
    return 0


if __name__ == "__main__":
    farblock.main(main)
