#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator capacity and unmap: what they print is what the disk is configured as, and
only what they are given is deallocated."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import Config, Farblockd, Scratch, check, main, program, run  # noqa: E402

MIB = 1 << 20
SIZE = 16 * MIB


def tool(*words, status=0):
    done = subprocess.run([program("farblock-initiator"), *words], timeout=120,
                          stdin=subprocess.DEVNULL, capture_output=True)
    told = done.stderr.decode()
    check(done.returncode == status, f"{words}: exit status {done.returncode}: {told}")
    return told if status else done.stdout


def capacity_of_a_thin_disk(scratch, target):
    got = json.loads(tool("capacity", target.url(0), "--json"))
    check(got == {"lun": 0, "blocks": SIZE // 512, "block_size": 512, "bytes": SIZE,
                  "physical_block_size": got["physical_block_size"], "first_aligned_byte": 0,
                  "thin": True, "unmapped_reads_zeros": True, "protection_type": 0}, f"{got}")
    text = tool("capacity", target.url(0)).decode()
    check(f"{SIZE} bytes (16.0MiB)" in text and "yes, unmapped blocks read as zeros" in text, text)


def capacity_of_a_thick_disk(scratch, target):
    check(json.loads(tool("capacity", target.url(1), "--json"))["thin"] is False, "it is thin")


def only_the_range_is_unmapped(scratch, target):
    """In several commands: the disk takes 1 MiB in one."""
    data = scratch.file("data", content=b"\xa5" * SIZE)
    tool("write", target.url(0), "-i", data)
    done = tool("unmap", target.url(0), "--offset", str(3 * MIB + 512), "--length", "5m")
    check(done == f"Unmapped {5 * MIB} bytes\n".encode(), f"{done}")
    after = tool("read", target.url(0), "-o", "-")
    at = 3 * MIB + 512
    check(after[:at] == b"\xa5" * at, "bytes before the range changed")
    check(after[at:at + 5 * MIB] == bytes(5 * MIB), "the range is not zeros")
    check(after[at + 5 * MIB:] == b"\xa5" * (SIZE - at - 5 * MIB), "bytes after it changed")


def refusals_are_in_words(scratch, target):
    told = tool("unmap", target.url(1), status=1)
    check("not thin-provisioned (LBPME=0; " in told, told)
    told = tool("unmap", target.url(0), "--offset", "100", status=2)
    check("must be multiples of the block size (512)" in told, told)


def a_filesystem_is_kept(scratch, target):
    image = scratch.file("fs.img", size=8 * MIB)
    run(["/usr/sbin/mkfs.ext4", "-q", "-L", "data", image])
    tool("write", target.url(0), "-i", image)
    told = tool("unmap", target.url(0), status=1)
    check("refusing to overwrite an ext4 filesystem labelled data" in told, told)
    tool("verify", target.url(0), image)
    tool("unmap", target.url(0), "--force")
    check(tool("read", target.url(0), "-o", "-") == bytes(SIZE), "--force does not unmap it")


def test():
    with Scratch() as scratch:
        config = Config()
        thin = config.ramdisk("thin", SIZE, {"emulate_tpu": 1,
                                             "max_unmap_lba_count": MIB // 512})
        thick = config.ramdisk("thick", SIZE, {"emulate_tpu": 0, "emulate_tpws": 0})
        target = config.target([thin, thick])
        with Farblockd(scratch, config):
            for case in (capacity_of_a_thin_disk, capacity_of_a_thick_disk,
                         only_the_range_is_unmapped, refusals_are_in_words,
                         a_filesystem_is_kept):
                case(scratch, target)


main(test)
