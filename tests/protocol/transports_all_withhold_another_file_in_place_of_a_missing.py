# SPDX-License-Identifier: BSD-2-Clause
"""A LUN whose file went missing is not ready (04/01) to sessions of all transports. Another file at
its path answers them LOGICAL UNIT NOT SUPPORTED, also to writes, and is not reported; its own file
is served again, with what was written to it."""

import json
import os

from transports import *

from protocol import pattern

WRITE_10 = b"\x2a" + bytes(7) + b"\1\0"
REPORT_LUNS = struct.pack(">B5xIxx", 0xa0, 64)
SIZE, ONE_LUN, TWO_LUNS = 1 << 20, bytes((0, 0, 0, 8)), bytes((0, 0, 0, 16))
SERVED, WAITING, WITHHELD = (), (2, 4, 1), (5, 0x25, 0)


def write(peer):
    """The sense data of a write to LUN 1, unit attentions aside."""
    while (sense := peer.ask(WRITE_10, out=pattern(512), unit=1).sense or ())[:1] == (6,):
        pass
    return sense


def become(peers, sense, listed):
    for peer in peers:
        eventually(f"{peer.name}: WRITE answers {sense}", lambda: write(peer) == sense)
        check(peer.after_attentions(REPORT_LUNS, 64)[:4] == listed, f"{peer.name}: REPORT LUNS")


def lose(daemon, name, aside):
    """In one change the LUN gets another storage object with its serial number and path."""
    os.rename(daemon.path, aside)
    text = daemon.document.replace("fileio/late", f"fileio/{name}").replace('"late"', f'"{name}"')
    daemon.rpc("tree.run", command="apply", path="/", named={
        "file": {"name": "/x", "document": json.loads(text)}, "force": True})


def test(daemon):
    own, other = daemon.path + ".own", daemon.path + ".other"
    with open(daemon.config_path, encoding="utf-8") as saved:
        daemon.document = saved.read()
    peers = daemon.sessions_of_all()
    become(peers, SERVED, TWO_LUNS)
    for name, aside, file, sense, listed in (("second", own, own, SERVED, TWO_LUNS),
                                             ("third", own, other, WITHHELD, ONE_LUN),
                                             ("fourth", other, own, SERVED, TWO_LUNS)):
        lose(daemon, name, aside)
        become(peers, WAITING, TWO_LUNS)
        os.rename(file, daemon.path)
        daemon.rpc("tree.run", command="refresh", path="/")
        become(peers, sense, listed)
    with open(other, "rb") as found:
        check(found.read() == bytes(SIZE), "a WRITE reached the other file")


class Missing(Daemon):
    def __init__(self, scratch, *arguments, **options):
        self.path, self.document = scratch.file("late.img"), None
        super().__init__(scratch, *arguments, **options)


def make(scratch):
    config, path = make_config(scratch), scratch.file("late.img")
    disk = config.fileio("late", path, SIZE)
    config.storage_objects[-1]["wwn"] = "11111111-2222-4333-8444-555555555555"
    with open(path + ".other", "wb") as out:
        out.truncate(SIZE)
    tpg = config.targets[0]["tpgs"][0]
    tpg["luns"].append({"index": 1, "storage_object": disk})
    for acl in tpg["node_acls"]:
        acl["mapped_luns"].append({"index": 1, "tpg_lun": 1, "alias": "map1",
                                   "write_protect": False})
    config.target(["/backstores/ramdisk/rd0", disk], attributes={"nopin_timeout": 60})
    return config


protocol.main(test, make=make, kind=Missing, cpus=(0, 1))
