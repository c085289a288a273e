#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A write of farblock-initiator continues and loses nothing if its disk has lost nothing: a file
written through survives kill -9 of the daemon, a RAM disk the loss of a session."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import Config, Farblockd, Scratch, check, main  # noqa: E402
from stream import MIB, Stream, content, goes_on, writer  # noqa: E402

SIZE = 64 * MIB
BACK = "farblock-initiator: session restored"


def is_there(target, lun, data):
    out = Stream("read", target.url(lun), "-o", "-", "--length", str(len(data))).end(0)
    check(out == data, f"LUN {lun}: what was read is not what was written")


def restarted_file(daemon, target, path):
    data = content()
    stream = writer(daemon, target, path, data, lun=1)
    daemon.kill()
    daemon.start()
    goes_on(stream, data)
    stream.end(0, BACK)
    is_there(target, 1, data)


def dropped_session(daemon, target, path):
    data = content()
    stream = writer(daemon, target, path, data)
    group = f"/iscsi/{target.iqn}/tpg1"
    daemon.rpc("tree.run", path=group, command="disable")
    daemon.rpc("tree.run", path=group, command="enable")
    goes_on(stream, data)
    stream.end(0, BACK)
    is_there(target, 0, data)


def test():
    with Scratch() as scratch:
        config = Config()
        ramdisk = config.ramdisk("rd0", SIZE)
        file = config.fileio("f0", scratch.file("disk.img"), SIZE)
        target = config.target([ramdisk, file])
        with Farblockd(scratch, config) as daemon:
            restarted_file(daemon, target, file)
            dropped_session(daemon, target, ramdisk)


main(test)
