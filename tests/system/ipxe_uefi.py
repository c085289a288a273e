#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Boots a UEFI machine from a LUN: OVMF, iPXE's iSCSI initiator (sanboot), and an application of 10
and of 60 MB in a FAT file system, which the firmware reads by one READ for all of it; of the larger
one iPXE puts the number of blocks into 16 bits. It prints a message, new each time, if all of its data
has arrived."""

import os
import re
import secrets
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import efi_app  # noqa: E402
import farblock  # noqa: E402
import ipxe_boot  # noqa: E402
import mbr  # noqa: E402

MIB = 1 << 20
DISK = 128 * MIB
SIZES = 10_000_384, 60_000_256  # whole blocks
FIRMWARE, IPXE = "/usr/share/ovmf/OVMF.fd", "/usr/lib/ipxe/ipxe.efi"
SECONDS = 600


def make_disk(path, size, message):
    """A FAT file system with the application where firmware looks for it."""
    app = path + ".efi"
    with open(app, "wb") as out:
        out.write(efi_app.build(size, message))
    with open(path, "wb") as out:
        out.truncate(DISK)
    for command in (["mkfs.fat", "-F", "32", path], ["mmd", "-i", path, "::/EFI", "::/EFI/BOOT"],
                    ["mcopy", "-i", path, app, "::/EFI/BOOT/BOOTX64.EFI"]):
        subprocess.run([farblock.program(command[0]), *command[1:]], check=True,
                       stdout=subprocess.DEVNULL)


def boot(scratch, url):
    """QEMU's exit status and what came from the serial port."""
    folder, serial = scratch.file("tftp"), scratch.file("serial.log")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "boot.ipxe"), "w", encoding="utf-8") as out:
        out.write(ipxe_boot.script(url))
    command = [farblock.program("qemu-system-x86_64"), "-machine", "q35,accel=tcg", "-m", "512",
               "-nodefaults", "-display", "none", "-bios", FIRMWARE, "-kernel", IPXE,
               "-serial", f"file:{serial}", "-no-reboot",
               "-device", f"isa-debug-exit,iobase={mbr.EXIT_PORT:#x},iosize=1",
               "-netdev", f"user,id=n0,tftp={folder},bootfile=boot.ipxe",
               "-device", "virtio-net-pci,netdev=n0,romfile="]
    try:
        status = subprocess.run(command, timeout=SECONDS, stdin=subprocess.DEVNULL,
                                stderr=subprocess.STDOUT, stdout=subprocess.PIPE).returncode
    except subprocess.TimeoutExpired:
        status = None
    with open(serial, errors="replace", encoding="utf-8") as text:
        return status, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text.read())


def check(scratch, url, fill):
    for size in SIZES:
        message = f"booted from iSCSI {secrets.token_hex(8)}"
        fill(size, message)
        status, printed = boot(scratch, url)
        if status != 2 * mbr.GOOD + 1 or message not in printed:
            raise farblock.Failure(f"{url}: {size} bytes: not booted: QEMU's status {status}, "
                                   f"serial port:\n{printed[-3000:]}")
        print(f"{url}: iPXE booted an application of {size} bytes, {message!r} came back")


def main():
    with farblock.Scratch() as scratch:
        path = scratch.file("disk.img")
        make_disk(path, SIZES[0], "")
        config = farblock.Config()
        target = config.target([config.fileio("boot", path, DISK)])
        with farblock.Farblockd(scratch, config):
            check(scratch, target.url(), lambda size, message: make_disk(path, size, message))
    return 0


if __name__ == "__main__":
    farblock.main(main)
