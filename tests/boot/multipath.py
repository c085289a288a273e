#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A root disk by two paths of the kernel's SRP initiator, under dm-multipath. In the running machine one
path's portal goes and comes back, and then the target is away with both: nothing fails. prepare.sh has
made the image with FARBLOCK_BOOT_PACKAGES=multipath-tools-boot."""

import sys

import farblock_path  # noqa: F401
from boot import INITRD
from farblock import Scratch, Shell, check, main
from machine import HOST, Machine
from target import Root

# The errors of a path are not the disk's.
BROKEN = (r"I/O error.*dm-\d|Remounting filesystem read-only|EXT4-fs error|Aborting journal|"
          r"Kernel panic|Oops|hung_task|blocked for more than")
PATHS = r"""
ready() { multipath -ll | grep -c "active ready running"; }
two() { until [ "$(ready)" = 2 ]; do sleep 1; done; }
one() { until [ "$(ready)" = 1 ]; do sleep 1; done; }
load() { fio --name=root --filename=/var/tmp/fio --size=32m --bs=4k --rw=randwrite --ioengine=libaio \
    --iodepth=8 --direct=1 --verify=crc32c --verify_fatal=1 >/run/fio.log 2>&1; }
findmnt -no SOURCE / | grep /dev/mapper/ || exit 3
two
echo TWO-PATHS
load || exit 4
one
echo ONE-PATH
load || exit 5
two
echo TWO-PATHS-AGAIN
load || exit 6
findmnt -no OPTIONS / | grep -qw rw || exit 7
"""


def words(root):
    """A login for each portal; the initiator's ports differ, since ib_srp refuses a second login of one."""
    logins = [f"farblock.root=srp:{root.target.add_target(n)},initiator_ext=000000000000000{n}"
              for n in (0, 1)]
    return " ".join(["farblock.rdma=siw ip=dhcp", *logins]).replace("127.0.0.1", HOST)


def paths_go_and_come():
    with Scratch() as scratch, Root(scratch, is_srp=True, portals=2) as root:
        shell = Shell(root.daemon)
        address, port = root.target.portals[1]
        portals = f"{root.target.path}/portals"

        def cut():
            shell(portals, "delete", address, str(port), "force=true")

        def mend():
            shell(portals, "create", address, str(port))

        events = [("TWO-PATHS", cut), ("ONE-PATH", mend), ("TWO-PATHS-AGAIN", root.outage)]
        with Machine(scratch, pair=INITRD, words=words(root), command=PATHS, events=events,
                     name="multipath") as machine:
            machine.wait_end()
            check(machine.has("SRP: 2 of 2 paths are up"), "not by two paths")
            status = machine.command_status()
            if status:
                machine.fail(f"the command ended with status {status}")
            broken = machine.has(BROKEN)
            if broken:
                machine.fail(f"said {broken}")
        root.check_clean()
    print("multipath: passed", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(paths_go_and_come))
