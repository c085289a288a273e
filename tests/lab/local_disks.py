# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: the carriers of farblock-initiator attach on the guest's ublk and nbd, with a file of the
guest as the disk (carrier.c): what they do without a session below them."""

import os

from farblock import BUILD, Failure
from faults import finish, load
from kernel import Kernel, wait_until
from logins import MIB, same

MODULES = {"ublk": "ublk_drv", "nbd": "nbd"}
FILE, SIZE = "/tmp/carrier.img", 384 * MIB  # xfs wants 300


class Carrier(Kernel):
    """lab_carrier in the guest; begin() again takes its device over."""

    log = "/run/carrier.log"

    def __init__(self, lab, via):
        super().__init__(lab.guest)
        self.via, self.device, self.number = via, None, ""
        path = os.path.join(BUILD, "tests", "lab", "lab_carrier")
        self.guest.run(f"""
            modprobe -r {MODULES[via]}; rm -f {FILE}
            cp /host{path} /run/ && truncate -s {SIZE} {FILE} && dmesg -C""")

    def command(self):
        return f"/run/lab_carrier {self.via} {FILE} {self.number}"

    def begin(self):
        self.guest.run(f"""
            rm -f {self.log}.status
            (exec </dev/null >{self.log} 2>&1
             {self.command()} &
             echo $! >{self.log}.pid; wait $!; echo $? >{self.log}.status) &""")
        device, self.number = wait_until(self.named, "a device")
        same(device, self.device or device, "the device")
        self.device = device

    def named(self):
        """The device and its number, as soon as it can be used."""
        found = [line.split() for line in self.lines() if line.startswith("/dev/")]
        return found[0] if found else None

    def lines(self):
        status, output = self.guest.ask(f"cat {self.log}; [ ! -s {self.log}.status ]")
        if status:
            raise Failure(f"lab_carrier: ended: {output.strip()}")
        return output.splitlines()

    def signal(self, name):
        self.guest.run(f"kill -{name} $(cat {self.log}.pid)")

    def asked(self, name):
        """What it says to a signal."""
        before = len(self.lines())
        self.signal(name)
        return wait_until(lambda: self.lines()[before:], f"an answer to {name}")[0]

    def ended(self):
        wait_until(lambda: self.guest.ask(f"[ -s {self.log}.status ]")[0] == 0, "its end")
        return self.guest.run(f"cat {self.log}.status").strip()

    def kill(self):
        self.signal("KILL")
        self.ended()

    def end(self, name="TERM"):
        self.signal(name)
        same(self.ended(), "0", self.guest.run(f"cat {self.log}"))


def started(lab, via):
    carrier = Carrier(lab, via)
    carrier.begin()
    return carrier


def properties(carrier, via):
    """Of the queue of the device."""
    names = "logical_block_size physical_block_size write_cache fua discard_max_bytes"
    found = carrier.guest.run(f"""
        cd /sys/block/{carrier.device[5:]}/queue && cat {names} && cat ../size""").split("\n")
    same(found[0], "512", "logical block size")
    same(found[2:4], ["write back", "1"], "cache and FUA")
    same(found[5], str(SIZE // 512), "sectors")
    if via == "ublk":  # nbd has no such values
        same([found[1], found[4]], ["4096", str(MIB)], "physical block size, discard limit")


def used(carrier):
    """Who uses the device is told."""
    device = carrier.device
    same(carrier.asked("USR1"), "unused", "an unused device")
    carrier.guest.run(f"modprobe ext4; mkfs.ext4 -q -F {device} && mount {device} /mnt")
    same(carrier.asked("USR1"), f"{device}: mounted at '/mnt'", "a mounted device")
    carrier.guest.run(f"umount /mnt; tail -f /dev/null 3<{device} >/dev/null 2>&1 & echo $! >/run/opener")
    answer = carrier.asked("USR1")
    carrier.guest.run("kill $(cat /run/opener)")
    if "opened by 'tail'" not in answer and "opened by 'bash'" not in answer:
        raise Failure(f"a device that is open: {answer}")


def discarded(carrier):
    """Discard and write zeroes reach the disk, and nothing beside what was meant."""
    device = carrier.device
    carrier.guest.run(f"""
        dd if=/dev/urandom of=/tmp/random bs=1M count=8 status=none
        dd if=/tmp/random of={device} bs=1M oflag=direct conv=fsync status=none || exit
        blkdiscard -o 1M -l 2M {device} && blkdiscard -z -o 4M -l 3M {device} || exit
        (head -c 1M /tmp/random; head -c 2M /dev/zero; tail -c +$((3*{MIB}+1)) /tmp/random |
         head -c 1M; head -c 3M /dev/zero; tail -c 1M /tmp/random) |
            cmp -n {8 * MIB} - {FILE}""")


def carried(lab, via):
    carrier = started(lab, via)
    properties(carrier, via)
    used(carrier)
    discarded(carrier)
    load(lab, carrier, carrier.device)
    for _ in range(2):
        carrier.kill()
        carrier.begin()
    finish(carrier)
    carrier.end()
    same(lab.guest.ask(f"blockdev --getsize64 {carrier.device} | grep -v '^0$'")[0], 1,
         "what is left")


def ublk(lab):
    """ublk: the properties of the device; who uses it; discards; fio verifies while the process is
    killed twice, and its successors take the device over; it ends without a trace."""
    carried(lab, "ublk")


def nbd(lab):
    """The same of the kernel's nbd."""
    carried(lab, "nbd")


def forced(lab, via):
    carrier = started(lab, via)
    same(carrier.asked("USR2"), "holds", "the disk")
    carrier.in_background("read", f"! dd if={carrier.device} bs=64k count=64 iflag=direct")
    in_flight = f"awk '{{s += $1 + $2}} END {{print s}}' /sys/block/{carrier.device[5:]}/inflight"
    wait_until(lambda: int(carrier.guest.run(in_flight)), "a request is in flight")
    carrier.end("INT")
    carrier.finished("read")


def ublk_forced(lab):
    """A device whose disk does not answer is taken away by force: its requests fail."""
    forced(lab, "ublk")


def nbd_forced(lab):
    """The same of the kernel's nbd."""
    forced(lab, "nbd")


FILESYSTEMS = {"ext4": ("-F", "e2fsck -fn"), "xfs": ("-f", "xfs_repair -n"),
               "btrfs": ("-f", "btrfs check")}


def tree(count):
    """A script: so many files of several sizes in the guest's memory, copied and compared."""
    return f"""
        mkdir -p /tmp/tree && cd /tmp/tree || exit
        [ -e done ] || awk 'BEGIN {{ for (i = 0; i < {count}; i++) {{
            if (i % 500 == 0) {{ d = "d" i / 500; system("mkdir -p " d) }}
            f = d "/f" i; for (n = i % 7; n >= 0; n--) print i, n, i * n >f; close(f) }} }}'
        echo {count} >done
        cp -a /tmp/tree /mnt/tree && sync -f /mnt && echo 3 >/proc/sys/vm/drop_caches &&
            diff -r /tmp/tree /mnt/tree"""


def copied(carrier, kind, count, trim="fstrim /mnt"):
    """Files copied to a new filesystem and compared, while the process is killed and replaced."""
    option, check = FILESYSTEMS[kind]
    device = carrier.device
    carrier.guest.run(f"""
        modprobe {kind} && mkfs.{kind} -q {option} {device} && mount {device} /mnt""")
    carrier.in_background("copy", tree(count))
    wait_until(lambda: carrier.guest.ask("[ -d /mnt/tree/d0 ]")[0] == 0, "the copy is on its way")
    carrier.kill()
    carrier.begin()
    carrier.finished("copy")
    carrier.guest.run(f"{trim} && umount /mnt && {check} {device}")


def filesystems(lab, via):
    carrier = started(lab, via)
    for kind in FILESYSTEMS:
        copied(carrier, kind, 500)
    carrier.guest.run("rm -rf /tmp/tree")
    carrier.end()


def ublk_filesystems(lab):
    """ext4, xfs and btrfs on ublk: files copied and compared while the process is killed and replaced;
    trimmed, and checked by their own tools."""
    filesystems(lab, "ublk")


def nbd_filesystems(lab):
    """The same on the kernel's nbd."""
    filesystems(lab, "nbd")


def ublk_tree(lab):
    """A tree of 50,000 files copied to ext4 on ublk and compared, while the process is killed and
    replaced."""
    carrier = started(lab, "ublk")
    copied(carrier, "ext4", 50000)
    carrier.guest.run("rm -rf /tmp/tree")
    carrier.end()


SCENARIOS = [ublk, nbd, ublk_forced, nbd_forced, ublk_filesystems, nbd_filesystems, ublk_tree]
CHECK = [ublk, nbd]
