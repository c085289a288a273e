# SPDX-License-Identifier: BSD-2-Clause
"""A LUN whose file is missing is not ready (04/01), over all transports: it is listed and tells who
it is. When the file appears, sessions learn of its size, and read it."""

import os

from transports import *

REPORT_LUNS = struct.pack(">B5xIxx", 0xa0, 64)
PORT_GROUPS = struct.pack(">BB4xIxx", 0xa3, 0x0a, 64)
RESERVE_KEYS = struct.pack(">BB5xHx", 0x5e, 0, 64)
WAITING, SIZE = (2, 4, 1), 1 << 20
WRITE_SAME = struct.pack(">B9xI2x", 0x93, 1)


def medium_commands_fail(peer):
    for cdb, size, out in ((bytes(6), 0, b""), (b"\x25" + bytes(9), 8, b""),
                           (struct.pack(">BB8xIxx", 0x9e, 0x10, 32), 32, b""),
                           (struct.pack(">B6xHx", 0x28, 1), 512, b""),
                           (struct.pack(">B6xHx", 0x2a, 1), 0, bytes(512)),
                           (WRITE_SAME, 0, bytes(512)), (RESERVE_KEYS, 64, b"")):
        peer.fails(WAITING, cdb, size, out, unit=1)


def who(peer):
    return peer.inquiry(0x83, unit=1), peer.inquiry(0x80, unit=1), peer.inquiry(unit=1)[:36]


def test(daemon):
    peers = daemon.sessions_of_all()
    before = []
    for peer in peers:
        peer.fails((6, 0x29, 0), bytes(6), unit=1)  # power on
        medium_commands_fail(peer)
        check(peer.good(REPORT_LUNS, 64)[:4] == bytes((0, 0, 0, 16)), f"{peer.name}: REPORT LUNS")
        check(peer.good(PORT_GROUPS, 64, unit=1)[3] >= 8, f"{peer.name}: no port group")
        sense = peer.good(struct.pack(">B3xBx", 3, 18), 18, unit=1)
        check((sense[2], sense[12], sense[13]) == WAITING, f"{peer.name}: {sense.hex()}")
        check(b"11111111-2222" in peer.inquiry(0x80, unit=1), f"{peer.name}: its serial number")
        before.append(who(peer))
    with open(daemon.missing, "wb") as out:
        out.truncate(SIZE)
    daemon.rpc("tree.run", command="refresh", path="/")
    for peer, known in zip(peers, before):
        peer.attention(0x2a, 0x09, unit=1)  # CAPACITY DATA HAS CHANGED
        peer.attention(0x3f, 0x03, unit=1)  # its limits
        check(who(peer) == known, f"{peer.name}: it is another one: {who(peer)} {known}")
        last = peer.good(b"\x25" + bytes(9), 8, unit=1)
        check(int.from_bytes(last[:4], "big") == SIZE // 512 - 1, f"{peer.name}: its size")
        peer.good(struct.pack(">B6xHx", 0x28, 1), 512, unit=1)
        check(peer.ask(bytes(6)).status == GOOD, f"{peer.name}: another LUN was told something")


class Waiting(Daemon):
    def __init__(self, scratch, *arguments, **options):
        self.missing = scratch.file("missing.img")
        super().__init__(scratch, *arguments, **options)


def make(scratch):
    config = make_config(scratch)
    path = scratch.file("missing.img")
    disk = config.fileio("late", path, SIZE)
    config.storage_objects[-1]["wwn"] = "11111111-2222-4333-8444-555555555555"
    os.unlink(path)
    tpg = config.targets[0]["tpgs"][0]
    tpg["luns"].append({"index": 1, "storage_object": disk})
    for acl in tpg["node_acls"]:
        acl["mapped_luns"].append({"index": 1, "tpg_lun": 1, "alias": "map1",
                                   "write_protect": False})
    config.target(["/backstores/ramdisk/rd0", disk], attributes={"nopin_timeout": 60})
    return config


protocol.main(test, make=make, kind=Waiting, cpus=(0, 1))
