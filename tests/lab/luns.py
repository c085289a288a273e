# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: LUNs that change while the guest uses them."""

import net
from data import thin_file
from farblock import Failure
from kernel import wait_until
from logins import MIB, ramdisk, round_trip, same


def resize(lab):
    """A LUN that grows under a mounted file system: the rescan sees it, resize2fs uses it."""
    daemon, target, initiator = lab.serve(thin_file)
    initiator.login(target)
    disk = initiator.disk()
    lab.guest.run(f"mkfs.ext4 -q {disk} && mount {disk} /mnt && cp /usr/bin/bash /mnt/")
    size = int(lab.guest.run(f"blockdev --getsize64 {disk}"))
    daemon.rpc("tree.run", path="/backstores/fileio/disk", command="resize",
               named={"size": str(2 * size)})
    lab.guest.run("sync")
    initiator.rescan()
    same(int(lab.guest.run(f"blockdev --getsize64 {disk}")), 2 * size, "size after the rescan")
    lab.guest.run(f"""
        resize2fs {disk} 2>&1 && head -c {size} /dev/zero >/mnt/more && cmp /usr/bin/bash /mnt/bash &&
        umount /mnt && e2fsck -fn {disk}""")
    if "capacity" not in initiator.kernel_log():
        raise Failure("the guest's kernel says nothing of a capacity that changed")


def create_lun(daemon, target, number):
    daemon.rpc("tree.run", command="create", path="/backstores/ramdisk",
               named={"name": f"live{number}", "size": str(16 * MIB)})
    daemon.rpc("tree.run", command="create", path=f"{target.path}/luns",
               named={"storage_object": f"/backstores/ramdisk/live{number}",
                       "lun": str(number)})


def delete_lun(daemon, target, number):
    daemon.rpc("tree.run", command="delete", path=f"{target.path}/luns",
               named={"lun": str(number), "force": True})


def luns_live(lab):
    """A LUN added while logged in appears by itself (iscsid rescans when an asynchronous message
    tells it), works, and is gone after its deletion; the LUN beside it continues without an error.
    One added before the initiator has shown that it lives is told of as soon as it does."""
    daemon, target, initiator = lab.serve(ramdisk)
    initiator.login(target)
    disk = initiator.disk()
    create_lun(daemon, target, 1)
    round_trip(lab, initiator.disk(1), ("64k",))
    initiator.in_background("beside", f"""
        while [ ! -e /run/stop ]; do
            dd if={disk} of=/dev/null bs=64k count=64 iflag=direct status=none || exit
        done""")
    create_lun(daemon, target, 7)
    round_trip(lab, initiator.disk(7), ("64k",))
    delete_lun(daemon, target, 1)
    initiator.rescan()
    wait_until(lambda: 1 not in usable(lab, initiator), "LUN 1 cannot be read any more")
    round_trip(lab, initiator.disk(7), ("64k",))
    create_lun_again(daemon, target)
    wait_until(lambda: 1 in usable(lab, initiator), "LUN 1 is back after a rescan")
    lab.guest.run("touch /run/stop")
    initiator.finished("beside")
    lab.guest.run("rm /run/stop")


def create_lun_again(daemon, target):
    daemon.rpc("tree.run", command="create", path=f"{target.path}/luns",
               named={"storage_object": "/backstores/ramdisk/live1", "lun": "1"})


def usable(lab, initiator):
    """LUNs that answer a read after a rescan."""
    initiator.rescan()
    return [lun for lun, names in initiator.disks().items()
            if lab.guest.run(f"dd if=/dev/{names[0]} bs=512 count=1 iflag=direct status=none "
                             "2>/dev/null | wc -c").strip() == "512"]


def many_luns(lab):
    """40 LUNs are scanned at login."""
    _, target, initiator = lab.serve(*[
        lambda config, _scratch, i=i: config.ramdisk(f"rd{i}", MIB) for i in range(40)])
    initiator.login(target)
    wait_until(lambda: len(initiator.disks()) == 40, "40 disks in the guest")


def write_protected(lab):
    """A write-protected LUN is a read-only disk."""
    _, target, initiator = lab.serve(ramdisk, write_protect=True)
    initiator.login(target)
    disk = initiator.disk()
    same(lab.guest.run(f"blockdev --getro {disk}").strip(), "1", "read-only flag")
    lab.guest.run(f"dd if={disk} of=/dev/null bs=1M count=8 iflag=direct status=none")
    if lab.guest.ask(f"dd if=/dev/zero of={disk} bs=4k count=1 oflag=direct")[0] == 0:
        raise Failure("a write went through")


def persistent_reservation(lab):
    """Registrations and a reservation by sg_persist keep the other initiator name out; its
    writes go through again after the release."""
    _, target, first = lab.serve(ramdisk)
    first.login(target)
    disk = first.disk()
    lab.guest.run(f"""
        sg_persist -n --out --register --param-sark=0xabc {disk} &&
        sg_persist -n --out --reserve --param-rk=0xabc --prout-type=5 {disk} &&
        sg_persist -n --in --read-reservation {disk} | grep -q 'Write Exclusive, registrants' &&
        dd if=/dev/zero of={disk} bs=4k count=1 oflag=direct status=none""")
    other = f"-T {target.iqn} -I other"
    portal = f"{lab.place.hosts[0]}:{net.PORT},1"
    lab.guest.run(f"""
        iscsiadm -m iface -I other -o new >/dev/null
        iscsiadm -m iface -I other -o update -n iface.initiatorname -v {first_name(1)} >/dev/null
        iscsiadm -m node {other} -p {portal} -o new >/dev/null &&
        iscsiadm -m node {other} -p {portal} -l""")
    both = first.disk(count=2)
    theirs = next(d for d in both if d != disk)
    if lab.guest.ask(f"dd if=/dev/zero of={theirs} bs=4k count=1 oflag=direct")[0] == 0:
        raise Failure("the other initiator could write")
    lab.guest.run(f"""
        dd if={theirs} of=/dev/null bs=4k count=1 iflag=direct status=none &&
        sg_persist -n --out --release --param-rk=0xabc --prout-type=5 {disk} &&
        dd if=/dev/zero of={theirs} bs=4k count=1 oflag=direct status=none""")


def first_name(number):
    return f"iqn.1993-08.org.debian:01:fa4b10c6000{number + 1}"


SCENARIOS = [resize, luns_live, many_luns, write_protected, persistent_reservation]
