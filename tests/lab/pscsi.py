# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: a SCSI device of the guest's kernel (scsi_debug) passed through by farblockd there, to
open-iscsi in the same guest, over TCP. What the device says of itself is asked for
beside farblockd, too."""

from farblock import Failure
from kernel import wait_until
from logins import MIB, no_complaint, same

BAD_SECTOR = 0x1234  # scsi_debug's, with opts=2


class Device:
    """scsi_debug's one disk: /dev/sdX, /dev/sgN and its address. It ends with the scenario."""

    def __init__(self, lab):
        self.guest = lab.guest
        lab.devices.append(self)
        self.guest.run("""modprobe -a sd_mod sg && modprobe scsi_debug dev_size_mb=64 \
            sector_size=512 delay=0 lbpu=1 lbpws=1""")
        wait_until(lambda: self.found(), "scsi_debug's disk is there")
        self.hctl, self.block, self.sg = self.found()

    def found(self):
        words = self.guest.run("""
            for d in /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*:*:*:*; do
                [ -e $d/block ] && [ -e $d/scsi_generic ] &&
                    echo ${d##*/} /dev/$(ls $d/block) /dev/$(ls $d/scsi_generic)
            done; true""").split()
        return words if len(words) == 3 else None

    def end(self):
        self.guest.run("modprobe -r scsi_debug")


def serve(lab, name):
    """farblockd with the device under this name, and a session to it; returns daemon, the device as
    the initiator has it, target."""
    daemon, target, initiator = lab.serve(
        lambda config, _scratch: config.storage("pscsi", "p0", dev=name))
    initiator.login(target)
    return daemon, target, initiator


# What a device is known by: standard INQUIRY data, vital product data, capacity, mode pages.
IDENTITY = ("sg_inq -H {}", "sg_inq -H -p 0x80 {}", "sg_inq -H -p 0x83 {}", "sg_inq -H -p 0xb0 {}",
            "sg_inq -H -p 0xb2 {}", "sg_readcap -H {}", "sg_readcap -l -H {}", "sg_modes -H -a {}")


def same_answers(lab, device, disk):
    for words in IDENTITY:
        here, there = (lab.guest.run(words.format(path) + " 2>&1")
                       for path in (device.block, disk))
        same(there, here, words)
    if "scsi_debug" not in lab.guest.run(f"sg_inq {disk}"):
        raise Failure("the initiator does not see scsi_debug")


def bytes_arrive(lab, device, disk):
    """What goes out over the session is on the device, and the other way round."""
    lab.guest.run("head -c 16M /dev/urandom >/tmp/big")
    for bs, count in (("512", 512), ("4k", 512), ("128k", 128), ("4M", 4), ("16M", 1)):
        lab.guest.run(f"""
            dd if=/tmp/big of={disk} bs={bs} count={count} oflag=direct conv=fsync status=none &&
            dd if={device.block} bs={bs} count={count} iflag=direct status=none |
                cmp - <(dd if=/tmp/big bs={bs} count={count} status=none) &&
            dd if={disk} bs={bs} count={count} iflag=direct status=none |
                cmp - <(dd if=/tmp/big bs={bs} count={count} status=none)""")
    lab.guest.run(f"""
        head -c 1M /dev/urandom >/tmp/other
        dd if=/tmp/other of={device.block} bs=64k seek=5 oflag=direct status=none &&
        dd if={disk} bs=64k skip=5 count=16 iflag=direct status=none | cmp - /tmp/other &&
        rm /tmp/big /tmp/other""")


def passed_through(lab):
    """By its sg node, its address and its block device: identity, capacity and mode pages are the
    device's own, bytes of commands up to 16 MiB arrive, an ext4 is whole afterwards."""
    device = Device(lab)
    for name in (device.sg, device.hctl, device.block):
        daemon, _, initiator = serve(lab, name)
        disk = initiator.disk()
        same_answers(lab, device, disk)
        bytes_arrive(lab, device, disk)
        lab.guest.run(f"""
            mkfs.ext4 -q {disk} && mount {disk} /mnt && cp -r /usr/sbin /mnt/ &&
            (cd /mnt && find . -type f -print0 | xargs -0 sha256sum >/tmp/sums) &&
            umount /mnt && blockdev --flushbufs {device.block} &&
            e2fsck -fn {device.block} && mount {disk} /mnt &&
            (cd /mnt && sha256sum --quiet -c /tmp/sums) && umount /mnt""")
        no_complaint(initiator)
        initiator.end()
        daemon.stop()


def errors(lab):
    """A bad sector is the device's medium error at the initiator, with its sense data; the sectors
    beside it are read; an unmapped range reads as the device has it."""
    device = Device(lab)
    _, _, initiator = serve(lab, device.sg)
    disk = initiator.disk()
    lab.guest.run("echo 2 >/sys/bus/pseudo/drivers/scsi_debug/opts")
    read = f"sg_raw -r 512 {{}} 28 00 00 00 {BAD_SECTOR >> 8:02x} {BAD_SECTOR & 255:02x} 00 00 01 00"
    here, there = (lab.guest.ask(read.format(path) + " 2>&1")
                   for path in (device.sg, disk))
    lab.guest.run("echo 0 >/sys/bus/pseudo/drivers/scsi_debug/opts")
    same(there, here, "the answer to a read of a bad sector")
    if "edium" not in there[1]:
        raise Failure(f"no medium error: {there}")
    lab.guest.run(f"dd if={disk} of=/dev/null bs=512 skip={BAD_SECTOR} count=8 iflag=direct")
    if lab.guest.ask(f"sg_raw {disk} ff 00 00 00 00 00")[0] == 0:
        raise Failure("an unknown command succeeds")
    lab.guest.run(f"""
        dd if=/dev/urandom of={disk} bs=1M count=1 oflag=direct status=none &&
        blkdiscard -o 0 -l {MIB} {disk} &&
        cmp <(dd if={disk} bs=1M count=1 iflag=direct status=none) \
            <(dd if={device.block} bs=1M count=1 iflag=direct status=none)""")


SCENARIOS = [passed_through, errors]
