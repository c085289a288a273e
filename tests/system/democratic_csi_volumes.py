#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""democratic-csi's zfs-generic-iscsi: a volume, and a clone of its snapshot, are shared with their
data and deleted again, also by batches that are repeated."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
from targetcli_calls import DemocraticCsi, Targetcli  # noqa: E402
from volumes import Volumes, check_same, filesystem, install  # noqa: E402

FIRST, CLONE = "pvc-1", "pvc-2"


def main():
    with farblock.Scratch() as scratch, Volumes(scratch) as volumes:
        config = farblock.Config()
        image, later = filesystem(scratch, "first"), filesystem(scratch, "later")
        with farblock.Farblockd(scratch, config) as daemon:
            targetcli = Targetcli(f"{farblock.SOURCE}/etc", daemon)
            targetcli("set global auto_add_default_portal=false")
            csi = DemocraticCsi(targetcli, farblock.free_port())
            device = volumes.create(FIRST)
            csi.create_share(FIRST, device)
            portals = "/iscsi/{}/tpg1/portals create 127.0.0.1 {}"
            targetcli(portals.format(csi.target(FIRST).iqn, csi.port))
            install(csi.target(FIRST).url(), image)
            csi.create_share(FIRST, device)  # again, after its answer was lost
            clone = volumes.create(CLONE, volumes.snapshot(FIRST, "snapshot-1"))
            install(csi.target(FIRST).url(), later)
            csi.create_share(CLONE, clone)
            csi.create_share(CLONE, clone)
            targetcli(portals.format(csi.target(CLONE).iqn, csi.port))
            check_same(scratch, csi.target(CLONE).url(), image, "the clone")
            check_same(scratch, csi.target(FIRST).url(), later, "its source")
            for name in (CLONE, FIRST, FIRST):
                csi.delete_share(name)
            farblock.check("pvc" not in targetcli("ls"), "something is left")
    return 0


if __name__ == "__main__":
    farblock.main(main)
