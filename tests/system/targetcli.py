#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The package farblock-targetcli: what it installs, how its targetcli is called, and the commands
and files of Proxmox' "ZFS over iSCSI" with LIO, while a virtual machine is logged in."""

import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
import iscsi  # noqa: E402
import packages  # noqa: E402
from farblock import check  # noqa: E402
from targetcli_calls import Targetcli  # noqa: E402

SAVED, LINK = "etc/farblock/saveconfig.json", "etc/target/saveconfig.json"
FILES = """etc/target/saveconfig.json usr/bin/targetcli usr/share/doc/farblock-targetcli/changelog.gz
usr/share/doc/farblock-targetcli/copyright usr/share/man/man8/targetcli.8.gz""".split()


def package(scratch):
    """Builds the package of the working tree; returns the folder it is unpacked in."""
    root = scratch.file("root")
    deb = packages.build(scratch)["farblock-targetcli"]
    found = packages.unpack(deb, root)
    check(found == sorted(FILES), f"the package has {found}")
    for field in ("Provides", "Conflicts", "Replaces"):
        check("targetcli-fb" in packages.field(deb, field), field)
    farblock.run(["mandoc", "-T", "lint", "-W", "warning", f"{farblock.SOURCE}/etc/targetcli.8"])
    return root


def keeps_what_was_there(scratch):
    old = scratch.file("old")
    os.makedirs(f"{old}/etc/target")
    with open(f"{old}/{LINK}", "w", encoding="utf-8") as out:
        out.write("theirs")
    script = f"{farblock.SOURCE}/debian/farblock-targetcli.preinst"
    farblock.run(["sh", script, "install"], env={**os.environ, "DPKG_ROOT": old})
    with open(f"{old}/{LINK}.targetcli", encoding="utf-8") as text:
        check(text.read() == "theirs" and not os.path.lexists(f"{old}/{LINK}"), "it was lost")


def habits(targetcli, scratch, link):
    targetcli("--version", text="targetcli version 2.1.53 (farblock ")
    targetcli("--disable-daemon ls", text="o- backstores")
    targetcli("'/backstores/ramdisk create' r1 1M", text="Created ramdisk r1")
    targetcli("/backstores/ramdisk delete nothing", status=1, text="No storage object named")
    said = targetcli("", stdin="cd /backstores/ramdisk\ncreate r1 1M\ncreate r2 1M\nexit\n")
    check("already exists" in said and "Created ramdisk r2" in said, f"a batch says {said}")
    targetcli("", stdin="cd /backstores/ramdisk\ndelete r3\ndelete r1\n", text="Deleted")
    said = targetcli("", status=1, stdin="cd /nothing\n/backstores/ramdisk create r1 1M\n")
    check("Created ramdisk r1" in said, f"a batch ended at its first error: {said}")
    targetcli(f"saveconfig {link}", text="Configuration saved to")
    check(os.path.islink(link), "saveconfig replaced the link")
    copy = scratch.file("copy.json")
    targetcli(f"saveconfig {copy}")
    targetcli("clearconfig confirm=True", text="All configuration cleared")
    targetcli(f"restoreconfig {copy}", text="Configuration restored")
    targetcli("ls /backstores/ramdisk", text="o- r2")


def proxmox(targetcli, target, device):
    """What the plugin runs for a new disk and for one that goes, as machine 100 runs from LUN 0."""
    machine, disk = iscsi.Session(target.url()), "/backstores/block/vm-101-disk-0"
    machine.run(iscsi.read16(0, 1), read_len=512)
    targetcli(f"/backstores/block create name=vm-101-disk-0 dev={device}")
    targetcli(f"{disk} set attribute emulate_tpu=1")
    luns = f"/iscsi/{target.iqn}/tpg1/luns/"
    targetcli(f"{luns} create {disk}", text="LUN 1")
    targetcli("saveconfig")
    check(targetcli.luns().get(disk) == 1, f"the saved file has {targetcli.luns()}")
    check(not machine.run(bytes(6)).sense, "machine 100 is disturbed")
    targetcli(f"{luns} delete lun0", status=1, text="in use by")
    targetcli(f"{luns} delete lun1")
    targetcli("/backstores/block delete vm-101-disk-0")
    targetcli("saveconfig")
    check(disk not in targetcli.luns(), f"the saved file has {targetcli.luns()}")
    machine.logout()


def main():
    if os.geteuid():
        raise farblock.Skip("no loop device can be made here")
    with farblock.Scratch() as scratch:
        root, config = package(scratch), farblock.Config()
        keeps_what_was_there(scratch)
        target = config.target([config.ramdisk("vm-100-disk-0", 1 << 20)])
        daemon = farblock.Farblockd(scratch, config)
        os.makedirs(f"{root}/etc/farblock", mode=0o700)
        daemon.config_path = shutil.move(daemon.config_path, f"{root}/{SAVED}")
        image = scratch.file("zvol", size=1 << 20)
        device = farblock.run(["losetup", "--find", "--show", image]).stdout.strip()
        try:
            with daemon:
                targetcli = Targetcli(f"{root}/usr/bin", daemon, saved=f"{root}/{LINK}")
                proxmox(targetcli, target, device)
                habits(targetcli, scratch, f"{root}/{LINK}")
        finally:
            farblock.run(["losetup", "-d", device])
    return 0


if __name__ == "__main__":
    farblock.main(main)
