# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of a LUN whose file is missing are made of: LUN 1 is such a one, beside a RAM disk."""

import json
import os

from transports import *

from protocol import pattern

WRITE_10 = b"\x2a" + bytes(7) + b"\1\0"
REPORT_LUNS = struct.pack(">B5xIxx", 0xa0, 64)
SIZE, ONE_LUN, TWO_LUNS = 1 << 20, bytes((0, 0, 0, 8)), bytes((0, 0, 0, 16))
SERVED, WAITING, WITHHELD = (), (2, 4, 1), (5, 0x25, 0)
SERIAL = "11111111-2222-4333-8444-555555555555"


def write(peer):
    """The sense data of a write to LUN 1, unit attentions aside."""
    while (sense := peer.ask(WRITE_10, out=pattern(512), unit=1).sense or ())[:1] == (6,):
        pass
    return sense


def become(peers, sense, listed):
    for peer in peers:
        eventually(f"{peer.name}: WRITE answers {sense}", lambda: write(peer) == sense)
        check(peer.after_attentions(REPORT_LUNS, 64)[:4] == listed, f"{peer.name}: REPORT LUNS")


def apply(daemon, text):
    daemon.rpc("tree.run", command="apply", path="/", named={
        "file": {"name": "/x", "document": json.loads(text)}, "force": True})


def make_file(path):
    with open(path, "wb") as out:
        out.truncate(SIZE)


class Missing(Daemon):
    """path: the missing file; other: one that its tests may put there; document: the saved file."""

    def __init__(self, scratch, *arguments, **options):
        self.path, self.other = scratch.file("late.img"), scratch.file("other.img")
        super().__init__(scratch, *arguments, **options)

    @property
    def document(self):
        with open(self.config_path, encoding="utf-8") as saved:
            return saved.read()


def make(scratch):
    config, path = make_config(scratch), scratch.file("late.img")
    disk = config.fileio("late", path, SIZE)
    config.storage_objects[-1]["wwn"] = SERIAL
    os.rename(path, scratch.file("other.img"))
    tpg = config.targets[0]["tpgs"][0]
    tpg["luns"].append({"index": 1, "storage_object": disk})
    for acl in tpg["node_acls"]:
        acl["mapped_luns"].append({"index": 1, "tpg_lun": 1, "alias": "map1",
                                   "write_protect": False})
    config.target(["/backstores/ramdisk/rd0", disk], attributes={"nopin_timeout": 60})
    return config


def main(test):
    protocol.main(test, make=make, kind=Missing, cpus=(0, 1))
