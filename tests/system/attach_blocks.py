#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""attach --via socket: a LUN with blocks of 4096 bytes is an export with such blocks, which grows
with the LUN, while its target is restarted, too; over TCP, iSER and SRP at once."""

import filecmp
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments, Portals  # noqa: E402
from farblock import Config, Farblockd, Scratch, Shell, check, eventually, main, run  # noqa: E402

MIB = 1 << 20
SIZE = 16 * MIB


def it_has_these_blocks(attachments, url):
    status = attachments.one("disk")
    check((status["block_size"], status["bytes"]) == (4096, SIZE), f"{status}")
    told = run(["nbdinfo", url]).stdout
    check("block_size_minimum: 4096" in told, told)


def it_holds_what_is_written(scratch, url):
    source = scratch.file("source.img", content=random.Random(4).randbytes(SIZE))
    run(["nbdcopy", "--flush", source, url])
    back = scratch.file("back.img")
    run(["nbdcopy", url, back])
    check(filecmp.cmp(source, back, shallow=False), "it is not what was written")
    # QEMU reads, changes and writes the block around.
    run(["qemu-io", "-f", "raw", "-c", "write -P 7 5120 512", "-c", "read -P 7 5120 512", url])


def a_part_of_a_block_is_refused(url):
    done = run(["fio", "--name=part", "--ioengine=nbd", f"--uri={url}", "--rw=write", "--bs=512",
                "--size=4k"], check=False)
    check(done.returncode != 0 and "Invalid argument" in done.stdout, done.stdout)


def it_grows(attachments, daemon, url, size):
    Shell(daemon)("/backstores/fileio/disk", "resize", str(size))
    eventually("the new size", lambda: attachments.one("disk")["bytes"] == size)
    check(run(["nbdinfo", "--size", url]).stdout.strip() == str(size), "the size of the export")
    end = str(size - 4096)
    run(["qemu-io", "-f", "raw", "-c", f"write -P 9 {end} 4096", "-c", f"read -P 9 {end} 4096", url])


def test():
    with Scratch() as scratch, Attachments(scratch) as attachments:
        config = Config()
        portals = Portals(config, [config.fileio("disk", scratch.file("disk.img"), SIZE,
                                                 {"block_size": 4096})])
        with Farblockd(scratch, config) as daemon:
            # Each path takes the options of its protocol.
            url = attachments.attach(*portals.words("tcp", "iser", "srp"), "--provider", "iwarp",
                                     "--via", "socket", "--name", "disk")
            it_has_these_blocks(attachments, url)
            it_holds_what_is_written(scratch, url)
            a_part_of_a_block_is_refused(url)
            it_grows(attachments, daemon, url, 2 * SIZE)
            daemon.kill()
            eventually("no path", lambda: attachments.one("disk")["state"] == "no-path")
            daemon.start()
            it_grows(attachments, daemon, url, 3 * SIZE)
            attachments.detach("disk")


main(test)
