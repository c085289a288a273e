#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""attach --via socket: clients see the holes of a thin LUN of 1 GiB with 1 MiB of data, and copy it
without reading them: attach_holes.py CASE."""

import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import Config, Farblockd, Scratch, check, main, run  # noqa: E402

MIB = 1 << 20
SIZE = 1024 * MIB
AT = 512 * MIB  # the data
DISK = "/backstores/fileio/disk"
DATA = random.Random(7).randbytes(MIB)


def nbdinfo_map(url, copy):
    found = json.loads(run(["nbdinfo", "--map", "--json", url]).stdout)
    check([(e["offset"], e["length"], e["type"]) for e in found] ==
          [(0, AT, 3), (AT, MIB, 0), (AT + MIB, SIZE - AT - MIB, 3)], f"{found}")


def qemu_img_map(url, copy):
    found = json.loads(run(["qemu-img", "map", "--output=json", "-f", "raw", url]).stdout)
    check([(e["start"], e["length"], e["zero"], e["data"]) for e in found] ==
          [(0, AT, True, False), (AT, MIB, False, True),
           (AT + MIB, SIZE - AT - MIB, True, False)], f"{found}")


def nbdcopy(url, copy):
    run(["nbdcopy", url, copy])


def qemu_img_convert(url, copy):
    run(["qemu-img", "convert", "-f", "raw", "-O", "raw", url, copy])


CASES = {"nbdinfo-map": (nbdinfo_map, 0), "qemu-img-map": (qemu_img_map, 0),
         "nbdcopy": (nbdcopy, MIB), "qemu-img-convert": (qemu_img_convert, MIB)}


def is_the_disk(copy):
    check(os.path.getsize(copy) == SIZE, f"{os.path.getsize(copy)} bytes")
    with open(copy, "rb") as f:
        f.seek(AT - MIB)
        check(f.read(3 * MIB) == bytes(MIB) + DATA + bytes(MIB), "the copy is another one")


def test():
    case, data = CASES[sys.argv[1]]
    with Scratch() as scratch, Attachments(scratch) as attachments:
        config = Config()
        image, copy = scratch.file("disk.img"), scratch.file("copy.img")
        target = config.target([config.fileio("disk", image, SIZE, {"emulate_tpu": 1})])
        with open(image, "r+b") as f:
            f.seek(AT)
            f.write(DATA)
        with Farblockd(scratch, config) as daemon:
            url = attachments.attach(target.url(), "--via", "socket", "--name", "disk")
            before = daemon.moved(DISK)[1]
            case(url, copy)
            read = daemon.moved(DISK)[1] - before
            check(data <= read <= data + MIB // 4, f"{read} bytes were read")
            if data:
                is_the_disk(copy)
            attachments.detach("disk")


main(test)
