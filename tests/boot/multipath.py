#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A root disk by two paths of the kernel's SRP initiator, under dm-multipath. Each path in turn goes and
comes back under fio, and the target is away with both in each phase: nothing fails. run.sh has made the
image with FARBLOCK_BOOT_PACKAGES=multipath-tools-boot."""

import sys
from functools import partial

import farblock_path  # noqa: F401
from boot import ATTACHED, DRACUT, INITRD, SYSTEM, each, ends_well
from farblock import Scratch, check, main
from machine import HOST, Machine
from target import Root

# The errors of a path are not the disk's.
BROKEN = (r"I/O error.*dm-\d|Remounting filesystem read-only|EXT4-fs error|Aborting journal|"
          r"Kernel panic|Oops|hung_task|blocked for more than")
COMMAND = r"""
ready() { multipathd show paths raw format '%t %T' | grep -c 'active ready'; }
failures() { dmesg | grep -c 'device-mapper: multipath: .*Failing path'; }
load() { fio --name=root --filename=/var/tmp/fio --size=8m --bs=4k --rw=randwrite --ioengine=libaio \
    --iodepth=8 --direct=1 --verify=crc32c --verify_fatal=1 >/run/fio.log 2>&1 ||
    { tail -n 20 /run/fio.log; exit 4; }; }
# fio goes on until so many paths are ready, and then once more.
load_until() {
    while [ "$(ready)" != "$1" ]; do load; done
    load
}
findmnt -no SOURCE / | grep '^/dev/mapper/.*-part1$' || exit 3
dmsetup table --target multipath
[ "$(dmsetup table --target multipath | grep -o ' 8:[0-9]*' | wc -l)" = 2 ] || exit 8
ls /dev/sd?[0-9] 2>/dev/null && exit 9
load_until 2
grep -v '^15$' /sys/class/srp_remote_ports/*/fast_io_fail_tmo && exit 10
echo CUT-FIRST
load_until 1
echo MEND-FIRST
load_until 2
echo CUT-SECOND
load_until 1
echo MEND-SECOND
load_until 2
failed=$(failures)
echo CUT-BOTH
while [ "$(failures)" -lt $((failed + 2)) ]; do load; done
load_until 2
multipath -ll
findmnt -no OPTIONS / | grep -qw rw && touch /var/tmp/writable || exit 5
systemctl --failed --no-legend | grep . && exit 6
echo POWERING-OFF
"""


def words(root):
    """A login for each portal, each of a port of its own: ib_srp refuses a second login of one."""
    logins = [f"farblock.root=srp:{root.target.add_target(n)},initiator_ext={n + 1:016x}"
              for n in (0, 1)]
    return " ".join(["farblock.rdma=siw ip=dhcp", *logins]).replace("127.0.0.1", HOST)


def change_portal(root, number, command, **named):
    host, port = root.target.portals[number]
    root.daemon.rpc("tree.run", command=command, path=f"{root.target.path}/portals",
                    named={"ip_address": host, "ip_port": port, **named})
    return f"{host}:{port}"


def cut(root, number):
    """A portal is deleted, and what logged in by it is dropped: nothing comes back by itself."""
    portal = change_portal(root, number, "delete", force=True)
    mine = [s["sid"] for s in root.daemon.rpc("session.list") if portal in str(s)]
    check(len(mine) == 1, f"{portal}: sessions {mine}")
    root.daemon.rpc("session.drop", sid=mine[0])


def mend(root, number):
    change_portal(root, number, "create")


def multipath(pair):
    with Scratch() as scratch, Root(scratch, is_srp=True, portals=2) as root:
        events = [(ATTACHED, root.outage), (SYSTEM, root.outage),
                  ("CUT-FIRST", partial(cut, root, 0)), ("MEND-FIRST", partial(mend, root, 0)),
                  ("CUT-SECOND", partial(cut, root, 1)), ("MEND-SECOND", partial(mend, root, 1)),
                  ("CUT-BOTH", root.outage), ("POWERING-OFF", root.outage)]
        with Machine(scratch, pair=pair, words=words(root), command=COMMAND, events=events,
                     name="multipath") as machine:
            ends_well(machine, BROKEN)
            check(machine.has("SRP: 2 of 2 paths are up"), "not by two paths")
        root.check_clean()


if __name__ == "__main__":
    sys.exit(main(lambda: each(sys.argv[1:], {"initrd": partial(multipath, INITRD),
                                              "dracut": partial(multipath, DRACUT)})))
