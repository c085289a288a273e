# SPDX-License-Identifier: BSD-2-Clause
"""Another program truncates the file of a disk: READ CAPACITY is an error, not a disk of 2^64
blocks; when the file has its blocks again, they are served again."""

import os

from protocol import *

CORRUPTED = (3, 0x31, 0x00)
CAPACITY_10 = bytes((0x25,)) + bytes(9)
CAPACITY_16 = struct.pack(">BB8xIxx", 0x9e, 0x10, 32)


def on_a_file(config, scratch):
    disk = config.storage("fileio", "f0", dev=scratch.file("f0.img", size=MIB), size=MIB,
                          write_back=True, aio=False)
    config.targets[0]["tpgs"][0]["luns"][0]["storage_object"] = disk


def ask(peer, cdb, size):
    pdu = peer.send(peer.task(cdb, edtl=size, flags=READ))
    return peer.collect(pdu, size)


def test(daemon):
    peer = daemon.session()
    path = daemon.scratch.file("f0.img")
    os.truncate(path, 0)
    eventually("the new size is seen", lambda: "size is now 0 bytes, less" in daemon.log())
    for cdb, size in ((CAPACITY_16, 32), (CAPACITY_10, 8)):
        end = ask(peer, cdb, size)[1]
        if end.sense and end.sense[0] == 6:  # CAPACITY DATA HAS CHANGED
            end = ask(peer, cdb, size)[1]
        check(end.sense == CORRUPTED, f"{cdb.hex()} of an empty file: {end.status} {end.sense}")
    os.truncate(path, MIB)
    eventually("the old size is seen", lambda: f"size is now {MIB} bytes" in daemon.log())
    peer.ready()
    last = struct.unpack(">I", ask(peer, CAPACITY_10, 8)[0][:4])[0]
    check(last == MIB // BLOCK - 1, f"the last block is {last}")
    check(peer.read(0, 8) == bytes(8 * BLOCK), "the file is not zeroes")


main(test, adapt=on_a_file)
