#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator does not overwrite a disk with a filesystem or partition table on it, names
what it found, and writes nothing; with --force, or a yes at the terminal, it does."""

import os
import struct
import subprocess
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import Config, Failure, Farblockd, Scratch, Skip, check, main, program, run  # noqa: E402

try:
    import pexpect
except ImportError:
    pexpect = None

MIB = 1 << 20
SIZE = 32 * MIB
WRITES = (("write", "--input"), ("verify", "--pattern", "7"),
          ("bench", "--op", "write", "--time", "1"), ("bench", "--op", "randwrite", "--time", "1"))


def filesystem(scratch):
    path = scratch.file("fs.img", size=8 * MIB)
    run(["/usr/sbin/mkfs.ext4", "-q", "-L", "data", path])
    return path, "an ext4 filesystem labelled data"


def backup_table(scratch):
    """A GPT whose only header left is the one in the last block."""
    last = SIZE // 512 - 1
    entries = struct.pack("<16s16sQQQ72s", os.urandom(16), os.urandom(16), 64, 128, 0,
                          b"") + bytes(127 * 128)
    header = struct.pack("<8sIIIIQQQQ16sQIII", b"EFI PART", 0x10000, 92, 0, 0, last, 1, 34,
                         last - 33, os.urandom(16), last - 32, 128, 128, zlib.crc32(entries))
    header = header[:16] + struct.pack("<I", zlib.crc32(header)) + header[20:]
    mbr = struct.pack("<446xB3sB3sII48xH", 0, b"\0\2\0", 0xee, b"\xff" * 3, 1, last, 0xaa55)
    return scratch.file("gpt.img", content=mbr + bytes((last - 33) * 512) + entries +
                        header.ljust(512, b"\0")), "a gpt partition table"


def tool(*words, status=0):
    done = subprocess.run([program("farblock-initiator"), *words], text=True, timeout=120,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    check(done.returncode == status, f"{words}: exit status {done.returncode}: {done.stderr}")
    return done.stderr


def refused(daemon, url, disk, image, what, *force):
    tool("write", url, "--input", image, *force)
    written = daemon.moved(disk)[0]
    for verb, *words in WRITES:
        told = tool(verb, url, *words, *([image] if verb == "write" else []), status=1)
        check(f"refusing to overwrite {what} (" in told, f"{verb}: {told}")
    tool("verify", url, image)
    check(daemon.moved(disk)[0] == written, f"{what}: it was written to")


def asked(url, image, answer, status):
    if pexpect is None:
        raise Skip("python3-pexpect is not installed")
    terminal = pexpect.spawn(program("farblock-initiator"), ["write", url, "--input", image],
                             encoding="utf-8", timeout=60)
    terminal.expect_exact("overwrite an ext4 filesystem labelled data? [y/N] ")
    terminal.sendline(answer)
    terminal.expect(pexpect.EOF)
    terminal.close()
    if terminal.exitstatus != status:
        raise Failure(f"{answer}: exit status {terminal.exitstatus}: {terminal.before}")


def test():
    with Scratch() as scratch:
        config = Config()
        disk = config.ramdisk("rd0", SIZE)
        target = config.target([disk])
        with Farblockd(scratch, config) as daemon:
            tool("verify", target.url(), "--pattern", "7")
            refused(daemon, target.url(), disk, *backup_table(scratch))
            image, what = filesystem(scratch)
            refused(daemon, target.url(), disk, image, what, "--force")
            asked(target.url(), image, "n", 1)
            asked(target.url(), image, "y", 0)
            tool("verify", target.url(), "--pattern", "7", "--force")


main(test)
