#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""qemu-img, an initiator of another project: convert an image onto a LUN, compare, convert it
back, compare every byte, and bench both ways.

    qemu_img.py               a RAM disk and a file of farblockd
    qemu_img.py --target URL  any other target; its LUN is overwritten
"""

import argparse
import filecmp
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402

MIB = 1 << 20
SIZE, MOST = 64 * MIB, 1024 * MIB


def image(path, size):
    """Random data with holes and zeroes in it, of sizes that fit no block."""
    dice = random.Random(20250101)
    with open(path, "wb") as out:
        at = 0
        while at < size:
            n = min(dice.randrange(1, 3 * MIB), size - at)
            kind = dice.random()
            if kind < 0.5:
                out.write(dice.randbytes(n))
            elif kind < 0.75:
                out.write(bytes(n))
            else:
                out.seek(n, os.SEEK_CUR)
            at += n
        out.truncate(size)


def virtual_size(url):
    info = farblock.run(["qemu-img", "info", "-f", "raw", "--output=json", url])
    return json.loads(info.stdout)["virtual-size"]


def bench(url, *arguments):
    done = farblock.run(["qemu-img", "bench", "-f", "raw", "-t", "none", "-c", "20000", *arguments,
                         url])
    if "Run completed" not in done.stdout:
        raise farblock.Failure(f"qemu-img bench: {done.stdout}")


def check(scratch, url):
    size = virtual_size(url)
    if size > MOST:
        raise farblock.Failure(f"{url}: {size} bytes: more than this test wants to fill")
    source, back = scratch.file("source.img"), scratch.file("back.img")
    image(source, size)
    farblock.run(["qemu-img", "convert", "-n", "-f", "raw", "-O", "raw", "-t", "none", source, url])
    farblock.run(["qemu-img", "compare", "-f", "raw", "-F", "raw", source, url])
    farblock.run(["qemu-img", "convert", "-f", "raw", "-O", "raw", "-T", "none", url, back])
    if not filecmp.cmp(source, back, shallow=False):
        raise farblock.Failure(f"{url}: read back differs from what was written")
    bench(url, "-d", "1", "-s", "4096")
    bench(url, "-d", "32", "-s", "4096")
    bench(url, "-d", "32", "-s", "65536")
    farblock.run(["qemu-img", "compare", "-f", "raw", "-F", "raw", source, url])
    bench(url, "-w", "-d", "32", "-s", "4096", "--pattern=165", "--flush-interval=64")
    print(f"{url}: {size // MIB} MiB written, compared and read back alike")


def farblockd(scratch):
    config = farblock.Config()
    disks = [config.ramdisk("ram", SIZE),
             config.ramdisk("thin", SIZE, {"emulate_tpu": 1, "emulate_tpws": 1}),
             config.fileio("file", scratch.file("disk.img"), SIZE),
             config.fileio("cached", scratch.file("cached.img"), SIZE, write_back=True)]
    target = config.target(disks)
    with farblock.Farblockd(scratch, config):
        for lun in range(len(disks)):
            check(scratch, target.url(lun))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", metavar="URL")
    options = parser.parse_args()
    with farblock.Scratch() as scratch:
        if options.target:
            check(scratch, options.target)
        else:
            farblockd(scratch)
    return 0


if __name__ == "__main__":
    farblock.main(main)
