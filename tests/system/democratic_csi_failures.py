#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""democratic-csi's zfs-generic-iscsi: a batch that does not share the volume ends with exit status 1,
and the cause: the volume is missing, in use, or another one has its name."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
from farblock import check  # noqa: E402
from targetcli_calls import DemocraticCsi, Targetcli  # noqa: E402
from volumes import Volumes, filesystem  # noqa: E402


def main():
    with farblock.Scratch() as scratch, Volumes(scratch) as volumes:
        config = farblock.Config()
        image = filesystem(scratch, "first")
        with farblock.Farblockd(scratch, config) as daemon:
            targetcli = Targetcli(f"{farblock.SOURCE}/etc", daemon)
            targetcli("set global auto_add_default_portal=false")
            csi = DemocraticCsi(targetcli, farblock.free_port())
            said = csi.create_share("pvc-1", volumes.device("pvc-1"), status=1)
            check("No such file or directory" in said, f"a missing volume: {said}")
            device, other = volumes.create("pvc-1", image), volumes.create("pvc-2", image)
            user = os.open(device, os.O_RDONLY | os.O_EXCL)  # as the kernel has a mounted one
            said = csi.create_share("pvc-1", device, status=1)
            check("in use" in said, f"a mounted volume: {said}")
            os.close(user)
            csi.create_share("pvc-1", device)
            said = csi.create_share("pvc-1", other, status=1)
            check("already exists" in said, f"another volume of that name: {said}")
            check(list(targetcli.luns()) == ["/backstores/block/pvc-1"], str(targetcli.luns()))
            csi.delete_share("pvc-1")
    return 0


if __name__ == "__main__":
    farblock.main(main)
