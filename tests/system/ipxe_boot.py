#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Boots a machine from a LUN: QEMU's BIOS, iPXE's own iSCSI initiator (sanboot), and a boot
sector that reads a message from the LUN, prints it on the serial port and writes it back. The
message is new each time, so that nothing but this LUN can have printed it.

    ipxe_boot.py               a RAM disk of farblockd
    ipxe_boot.py --target URL  any other target; the start of its LUN is overwritten
"""

import argparse
import os
import re
import secrets
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
import iscsi  # noqa: E402
import mbr  # noqa: E402

INITIATOR = "iqn.2025-01.org.farblock:diskless"
HOST_SEEN_FROM_GUEST = "10.0.2.2"  # QEMU's user network turns it into our loopback
SECONDS = 120


def script(url):
    """iPXE's orders: sanboot takes the LUN in hexadecimal."""
    port, iqn, lun = re.fullmatch(r"iscsi://127\.0\.0\.1:(\d+)/([^/]+)/(\d+)", url).groups()
    return (f"#!ipxe\nset initiator-iqn {INITIATOR}\n"
            f"sanboot iscsi:{HOST_SEEN_FROM_GUEST}::{port}:{int(lun):x}:{iqn}\n")


def boot_script(scratch, text):
    """Runs a machine, which has iPXE run this script, to its end; returns its exit status and what
    it printed."""
    folder, serial = scratch.file("tftp"), scratch.file("serial.log")
    os.makedirs(folder)
    with open(os.path.join(folder, "boot.ipxe"), "w") as out:
        out.write(text)
    command = [farblock.program("qemu-system-x86_64"), "-machine", "pc,accel=tcg", "-m", "256",
               "-nodefaults", "-display", "none", "-vga", "none", "-device", "sga",
               "-serial", f"file:{serial}", "-boot", "n", "-no-reboot",
               "-device", f"isa-debug-exit,iobase={mbr.EXIT_PORT:#x},iosize=1",
               "-netdev", f"user,id=n0,tftp={folder},bootfile=boot.ipxe",
               "-device", "virtio-net-pci,netdev=n0"]
    try:
        status = subprocess.run(command, timeout=SECONDS, stdin=subprocess.DEVNULL,
                                stderr=subprocess.STDOUT, stdout=subprocess.PIPE).returncode
    except subprocess.TimeoutExpired:
        status = None
    with open(serial, errors="replace") as text:
        return status, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text.read())


def check(scratch, url):
    message = f"booted from iSCSI {secrets.token_hex(8)}"
    block = (message + "\r\n").encode().ljust(512, b"\0")
    session = iscsi.Session(url)
    session.ready()
    for lba, data in ((0, mbr.build()), (1, block), (2, bytes(512))):
        if not session.run(iscsi.write16(lba, 1), data).is_good:
            raise farblock.Failure(f"{url}: block {lba}: not written")
    session.logout()

    status, printed = boot_script(scratch, script(url))
    if status != 2 * mbr.GOOD + 1 or message not in printed:
        raise farblock.Failure(f"{url}: not booted: QEMU's status {status}, serial port:\n"
                               f"{printed[-3000:]}")
    session = iscsi.Session(url)
    session.ready()
    written = bytes(session.run(iscsi.read16(2, 1), read_len=512).data_in)
    session.logout()
    if written != block:
        raise farblock.Failure(f"{url}: what the machine wrote is not there")
    print(f"{url}: iPXE logged in, {message!r} came from the serial port, its write arrived")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", metavar="URL", help="on 127.0.0.1")
    options = parser.parse_args()
    with farblock.Scratch() as scratch:
        if options.target:
            check(scratch, options.target)
            return 0
        config = farblock.Config()
        target = config.target([config.ramdisk("boot", 8 << 20)])
        with farblock.Farblockd(scratch, config):
            check(scratch, target.url())
    return 0


if __name__ == "__main__":
    farblock.main(main)
