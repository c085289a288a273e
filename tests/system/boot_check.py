#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator boot-check: what it says of disks made by sfdisk, mkfs.vfat, mtools and GRUB,
and of a disk that the machine of ipxe_boot.py boots from; it logs in as firmware does, once and
without discovery."""

import json
import os
import re
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
import mbr  # noqa: E402
from farblock import Config, Farblockd, Scratch, Shell, Skip, check, main, program, run  # noqa: E402

MIB = 1 << 20
SIZE = 40 * MIB
FAT_KIB = {12: 1024, 16: 7168, 32: 36 << 10}
GRUB = ("/usr/lib/grub/i386-pc/boot.img", "/usr/lib/grub2/i386-pc/boot.img")
HOST, SECRET = "iqn.2025-03.net.example:machine", "correct-horse-1"


def grub_code():
    for path in GRUB:
        if os.path.exists(path):
            with open(path, "rb") as code:
                return code.read(440)
    raise Skip("GRUB's boot.img is missing (grub-pc-bin)")


def sfdisk(path, text):
    done = subprocess.run([program("sfdisk"), "-q", "--no-reread", "--no-tell-kernel", path],
                          input=text, text=True, capture_output=True)
    check(not done.returncode, f"sfdisk: {done.stderr}")


def put(path, at, data):
    with open(path, "r+b") as disk:
        disk.seek(at)
        disk.write(data)


def esp(path, loader="BOOTX64.EFI", bits=12):
    """A FAT file system at 1 MiB with a loader behind other files, in a directory of some clusters."""
    part = f"{path}@@1M"
    run(["mkfs.vfat", "-F", str(bits), "-s", "1", "--offset", "2048", path, str(FAT_KIB[bits])])
    file = path + ".efi"
    with open(file, "wb") as out:
        out.write(b"MZ")
    run(["mmd", "-i", part, "::/EFI", "::/EFI/debian", "::/EFI/BOOT"])
    for number in range(40):
        run(["mcopy", "-i", part, file, f"::/EFI/BOOT/a long name, the number {number}.txt"])
    if loader:
        run(["mcopy", "-i", part, file, f"::/EFI/BOOT/{loader}"])


def boot_check(url, *words, status=0):
    done = subprocess.run([program("farblock-initiator"), "boot-check", url, *words],
                          capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    check(done.returncode == status, f"{words}: status {done.returncode}: {done.stdout}{done.stderr}")
    return done


class Disk:
    """One LUN, with one image after the other."""

    def __init__(self, scratch, url):
        self.scratch, self.url, self.count = scratch, url, 0

    def image(self):
        self.count += 1
        return self.scratch.file(f"disk{self.count}.img", size=SIZE)

    def look(self, path, status=0):
        run(["farblock-initiator", "write", self.url, "-i", path, "--force"])
        done = boot_check(self.url, "--json", status=status)
        check(status == 0 or "nothing to boot" in done.stderr, done.stderr)
        return json.loads(done.stdout)


def an_empty_disk_boots_nothing(disk):
    told = disk.look(disk.image(), status=1)
    check(not told["boot_signature"] and told["partition_table"] == "none", told)
    check("55AA" in told["bios"]["reason"] and "content" not in told, told)


def a_filesystem_is_named(disk):
    path = disk.image()
    run(["/usr/sbin/mkfs.ext4", "-q", "-L", "data", path])
    check(disk.look(path, status=1)["content"] == "an ext4 filesystem labelled data", "ext4")


def a_disk_that_boots_is_told_from_one_without_code(disk):
    path = disk.image()
    put(path, 0, mbr.build())
    told = disk.look(path)
    check(told["bios"] == {"boots": True, "reason": "yes: boot code of an unknown loader"}, told)
    path = disk.image()
    sfdisk(path, "label: dos\n2048,4096,83,*\n")
    told = disk.look(path, status=1)
    check(told["partition_table"] == "dos" and told["partitions"] == 1, told)
    check("no boot code" in told["bios"]["reason"], told)


def grub_is_recognised(disk):
    path = disk.image()
    sfdisk(path, "label: gpt\nsize=1M,type=21686148-6449-6E6F-744E-656564454649\ntype=linux\n")
    put(path, 0, grub_code())
    told = disk.look(path)
    check(told["bios"]["reason"] == "yes: boot code of GRUB" and told["partition_table"] == "gpt", told)
    check(not told["uefi"]["boots"] and told["partitions"] == 2, told)
    out = boot_check(disk.url).stdout
    check("one for GRUB" in out and "no: no EFI system partition" in out, out)


def the_loader_of_uefi_is_found(disk):
    for label, kind in (("gpt", "uefi"), ("dos", "ef")):
        for bits in (12, 16, 32):
            path = disk.image()
            sfdisk(path, f"label: {label}\nstart=2048,type={kind}\n")
            esp(path, bits=bits)
            told = disk.look(path)
            check(told["uefi"] == {"boots": True, "reason": "yes: \\EFI\\BOOT\\BOOTX64.EFI of partition 1"},
                  f"{label}, FAT{bits}: {told}")
            check(told["efi_loader"] == "BOOTX64.EFI" and not told["bios"]["boots"], told)


def what_uefi_lacks_is_named(disk):
    path = disk.image()
    sfdisk(path, "label: gpt\nstart=2048,type=uefi\n")
    check("has no FAT" in disk.look(path, status=1)["uefi"]["reason"], "no FAT")
    esp(path, loader=None)
    check("nothing in \\EFI\\BOOT" in disk.look(path, status=1)["uefi"]["reason"], "no loader")
    put(path, 512 + 100, b"\1")  # in the rest of the header's block, which the checksum leaves out
    check(disk.look(path, status=1)["partition_table"] == "gpt", "a byte behind the header")
    put(path, 512 + 40, b"\1")
    check("damaged" in disk.look(path, status=1)["uefi"]["reason"], "the header")


def a_damaged_gpt_is_not_booted_by_its_hybrid_mbr(disk):
    path = disk.image()
    sfdisk(path, "label: dos\nstart=2048,size=4096,type=ef\nstart=1,size=2047,type=ee\n")
    esp(path)
    told = disk.look(path, status=1)
    check(not told["uefi"]["boots"] and "damaged" in told["uefi"]["reason"], told)


def blocks_of_4096_bytes_do_not_boot_by_bios(scratch, target):
    path = scratch.file("4kn.img", size=SIZE)
    put(path, 0, mbr.build())
    run(["farblock-initiator", "write", target.url(1), "-i", path])
    told = json.loads(boot_check(target.url(1), "--json", status=1).stdout)
    check("blocks of 4096 bytes" in told["bios"]["reason"], told)


def the_shell_checks_a_lun_of_its_daemon(shell, disk, target):
    path = disk.image()
    put(path, 0, mbr.build())
    disk.look(path)
    lun = f"{target.path}/luns/lun0"
    check("boot code of an unknown loader" in shell("boot-check", lun), "the shell")
    check(json.loads(shell("--json", "boot-check", lun))["bios"]["boots"], "as JSON")
    for words in ([], ["--json"]):
        done = subprocess.run([program("farblock"), "--socket", shell.daemon.socket_path, *words,
                               "boot-check", f"{target.path}/luns/lun1"], capture_output=True,
                              text=True, timeout=60, check=False)
        check(done.returncode == 1 and "nothing to boot" in done.stderr, done)
        if words:
            reason = json.loads(done.stdout)["bios"]["reason"]
        else:
            reason = re.search("^BIOS boots it *(.*)$", done.stdout, re.M)[1]
            check("UEFI boots it" in done.stdout and "Boot signature" in done.stdout, done)
        check("blocks of 4096 bytes" in reason, done)
    shell(f"{target.path}/acls", "create", HOST)
    acl = f"{target.path}/acls/{HOST}"
    shell(acl, "set", "attribute", "authentication=1")
    shell(acl, "set", "auth", "userid=machine", f"password={SECRET}")
    shell("boot-check", lun, status=2, text="no secret (password=- asks)")
    shell("boot-check", lun, f"initiator={HOST}", f"password={SECRET}", text="LUN 0 of")
    told = shell("boot-check", lun, "password=another-secret", status=1, text="password=")
    check("CHAP" in told and "--chap" not in told, told)
    shell(target.path, "set", "attribute", "generate_node_acls=0")
    told = shell("boot-check", lun, f"initiator={HOST}2", status=1)
    shell(target.path, "set", "attribute", "generate_node_acls=1")
    check("--initiator-name" not in told and "initiator=" in told, told)


def taken_port():
    """A socket that has a port and refuses connections; the port is lower than those of the tests."""
    for port in range(10001, 10999):
        taken = socket.socket()
        try:
            taken.bind(("127.0.0.1", port))
            return taken
        except OSError:
            taken.close()
    raise Skip("no free port")


def the_shell_logs_in_at_a_portal_that_listens(shell, disk, target):
    path = disk.image()
    put(path, 0, mbr.build())
    disk.look(path)
    lun, portals = f"{target.path}/luns/lun0", f"{target.path}/portals"
    with taken_port() as taken:
        port = str(taken.getsockname()[1])
        waiting = f"127.0.0.1:{port}"
        shell(portals, "create", "127.0.0.1", port)
        check(json.loads(shell("--json", f"{portals}/{waiting}", "info"))["state"] == "waiting", "its state")
        for words in ([], ["portal=127.0.0.1"], [f"portal=127.0.0.1:{target.port}"]):
            check("boot code of an unknown loader" in shell("boot-check", lun, *words), words)
        shell("boot-check", lun, "portal=127.0.0.2", status=3, text=f"127.0.0.1:{target.port}")
        done = subprocess.run([program("farblock"), "--socket", shell.daemon.socket_path, "boot-check", lun,
                               f"portal={waiting}"], capture_output=True, text=True, timeout=60, check=False)
        check(done.returncode and f"Warning: portal {waiting} is waiting" in done.stderr, done)
        shell(portals, "delete", "127.0.0.1", port)


def it_logs_in_as_firmware_does(shell, daemon, target):
    """By the keys of iPXE and CHAP with MD5 alone; other verdicts than those of a disk are errors."""
    words = ["--initiator-name", HOST, "--chap-user", "machine"]
    os.environ["FARBLOCK_CHAP_SECRET"] = SECRET
    boot_check(target.url(), *words)
    ended = daemon.rpc("session.ended")[0]
    check(ended["initiator"] == HOST and ended["reason"] == "logged out", ended)
    shell(target.path, "set", "attribute", "chap_algorithms=128")
    done = boot_check(target.url(), *words, status=1)
    check("CHAP" in done.stderr, done.stderr)
    boot_check(target.url(), *words, "--chap-algs", "SHA256")
    os.environ["FARBLOCK_CHAP_SECRET"] = "a-wrong-secret-1"
    boot_check(target.url(), *words, "--chap-algs", "SHA256", status=1)
    del os.environ["FARBLOCK_CHAP_SECRET"]
    check("firmware has no iSER" in boot_check(target.url().replace("iscsi:", "iser:"), status=2).stderr,
          "iSER")
    check("no LUN 9" in boot_check(target.url(9), status=1).stderr, "no such LUN")


def run_all():
    with Scratch() as scratch:
        config = Config()
        target = config.target([config.ramdisk("boot", SIZE),
                                config.ramdisk("4kn", SIZE, attributes={"block_size": 4096})])
        with Farblockd(scratch, config) as daemon:
            disk = Disk(scratch, target.url())
            an_empty_disk_boots_nothing(disk)
            a_filesystem_is_named(disk)
            a_disk_that_boots_is_told_from_one_without_code(disk)
            what_uefi_lacks_is_named(disk)
            a_damaged_gpt_is_not_booted_by_its_hybrid_mbr(disk)
            the_loader_of_uefi_is_found(disk)
            blocks_of_4096_bytes_do_not_boot_by_bios(scratch, target)
            grub_is_recognised(disk)
            the_shell_logs_in_at_a_portal_that_listens(Shell(daemon), disk, target)
            the_shell_checks_a_lun_of_its_daemon(Shell(daemon), disk, target)
            it_logs_in_as_firmware_does(Shell(daemon), daemon, target)
    return 0


if __name__ == "__main__":
    main(run_all)
