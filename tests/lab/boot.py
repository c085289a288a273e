# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: systemd and udev of this machine in the guest, above a copy-on-write view of this
machine's files, with the installed unit and rule of farblock-initiator and an entry of fstab. systemd
is the first process of a PID namespace."""

import os
import shlex

from data import thin_file
from farblock import BUILD, Failure, Skip, program
from initiator_tool import NAME
from kernel import wait_until
from local_disks import MODULES
from logins import MIB, same
from net import PORT

ROOT, LOG = "/tmp/boot/root", "/run/boot.log"
UNIT, RULE = "farblock-attach@.service", "61-farblock.rules"
FSTAB = "/dev/disk/by-id/farblock-data  /srv/data  ext4  _netdev,nofail  0  2\n"
# The rest of this machine's units would start its servers.
TARGET = """[Unit]
Wants=systemd-udevd.service systemd-udev-trigger.service remote-fs.target
After=remote-fs.target
"""
ENTRY = """url = {url}
via = {via}
initiator-name = {name}
"""
START = f"""
    mount --make-rprivate / && cd {ROOT} || exit
    mount -t proc proc proc && mount -t sysfs sysfs sys && mount -t devtmpfs dev dev || exit
    mount -t cgroup2 cgroup2 sys/fs/cgroup || exit
    for d in run tmp; do mount -t tmpfs tmpfs $d || exit; done
    exec chroot . /usr/bin/env -i container=lab PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        /lib/systemd/systemd --system --unit=lab.target --log-target=console"""


def disk(config, scratch):
    return thin_file(config, scratch, size=64 * MIB, write_back=False)


class System:
    """A system, from its start to its end, and again."""

    def __init__(self, lab, via):
        self.guest, self.via = lab.guest, via

    def install(self, url):
        """Our three files where CMake installs them, and the administrator's two."""
        with open(os.path.join(BUILD, "etc", UNIT), encoding="utf-8") as file:
            start = next(line for line in file if line.startswith("ExecStart="))
        path = start.removeprefix("ExecStart=").split()[0]
        entry = ENTRY.format(url=url, via=self.via, name=NAME)
        self.guest.run(f"""
            modprobe -a overlay {MODULES[self.via]} ext4 || exit
            mkdir -p /tmp/boot/upper /tmp/boot/work {ROOT} && cd /tmp/boot || exit
            mount -t overlay overlay -o lowerdir=/host,upperdir=upper,workdir=work {ROOT} || exit
            cd {ROOT} && rm -rf etc/systemd/system etc/udev/rules.d etc/fstab
            mkdir -p etc/systemd/system etc/udev/rules.d etc/farblock-initiator/attach.d srv/data \
                .{os.path.dirname(path)} || exit
            cp /host{os.path.realpath(program("farblock-initiator"))} .{path} || exit
            cp /host{BUILD}/etc/{UNIT} etc/systemd/system/ || exit
            cp /host{BUILD}/etc/{RULE} etc/udev/rules.d/ || exit
            printf %s {shlex.quote(FSTAB)} >etc/fstab
            printf %s {shlex.quote(TARGET)} >etc/systemd/system/lab.target
            printf %s {shlex.quote(entry)} >etc/farblock-initiator/attach.d/data.conf
            chroot . systemctl enable farblock-attach@data.service""")

    def start(self):
        self.guest.run(f"""
            printf %s {shlex.quote(START)} >/run/boot.sh
            unshare --fork --pid --mount --cgroup --uts bash /run/boot.sh >{LOG} 2>&1 </dev/null &
            echo $! >/run/boot.pid""")

    def ask(self, script):
        """In the system: exit status and output."""
        return self.guest.ask(f"""
            unshare=$(cat /run/boot.pid)
            init=$(cat /proc/$unshare/task/$unshare/children)
            [ -n "$init" ] && nsenter -t $init -m -p -C -r -w -- sh -c {shlex.quote(script)}""")

    def run(self, script):
        status, output = self.ask(script)
        if status:
            raise Failure(f"{script}: exit status {status}: {output}\n{self.log()}")
        return output

    def is_over(self):
        return self.guest.ask("[ ! -d /proc/$(cat /run/boot.pid) ]")[0] == 0

    def state(self, unit):
        return self.ask(f"systemctl show -p ActiveState --value {unit}")[1].strip()

    def log(self):
        return self.guest.ask(f"tail -c 3000 {LOG}")[1] + self.ask("""
            systemctl --failed --no-pager; systemctl list-jobs --no-pager; ls -l /dev/disk/*
            systemctl status --no-pager -n 20 farblock-attach@data srv-data.mount""")[1]

    def wait_until(self, holds, what):
        try:
            wait_until(lambda: self.is_over() or holds(), what, every=1)
        except Failure as why:
            raise Failure(f"{why}\n{self.log()}") from None
        if self.is_over():
            raise Failure(f"systemd has ended: {self.log()}")

    def end(self):
        self.ask("systemctl poweroff")
        wait_until(self.is_over, "the system ends")


def is_mounted(system):
    """By the link of fstab; the others are links to the same device."""
    system.wait_until(lambda: system.state("srv-data.mount") == "active", "it is mounted")
    same(system.state("farblock-attach@data"), "active", "the attachment")
    device = system.run("readlink -f /dev/disk/by-id/farblock-data").strip()
    for link in ("by-label/lab", "by-id/wwn-*", "by-id/scsi-*", "by-path/ip-*-lun-0"):
        same(system.run(f"readlink -f /dev/disk/{link}").strip(), device, link)
    same(system.run("findmnt -no SOURCE /srv/data").strip(), device, "what is mounted")


def boots(lab, via):
    if not os.path.exists("/lib/systemd/systemd") or not os.path.exists("/lib/udev/rules.d"):
        raise Skip("this machine has no systemd and udev, which the guest runs")
    daemon, target = lab.target(disk)
    path = lab.scratch.file("disk.img")
    lab.guest.run(f"mkfs.ext4 -q -F -L lab {path}")
    system = System(lab, via)
    system.install(f"iscsi://{lab.place.hosts[0]}:{PORT}/{target.iqn}/0")
    for count in (1, 2):
        system.start()
        is_mounted(system)
        # Not written back yet when the system ends.
        system.run(f"echo {count} >>/srv/data/file")
        same(system.run("cat /srv/data/file"), "1\n2\n"[:2 * count], "the file")
        system.end()
    lab.guest.run(f"umount {ROOT} && rm -rf /tmp/boot")
    wait_until(lambda: not daemon.rpc("session.list"), "no session is left")
    lab.guest.run(f"e2fsck -fn {path} && dumpe2fs -h {path} | grep -q 'state: *clean$'")


def ublk(lab):
    """An entry of fstab with _netdev, on a disk of farblock-attach@data by ublk, is mounted when systemd
    boots, by a link of udev's; at the end it is unmounted before the disk is detached, twice."""
    boots(lab, "ublk")


def nbd(lab):
    """The same on the kernel's nbd."""
    boots(lab, "nbd")


SCENARIOS = [ublk, nbd]
