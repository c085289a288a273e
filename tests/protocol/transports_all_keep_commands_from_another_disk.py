# SPDX-License-Identifier: BSD-2-Clause
"""A LUN number gets another disk, in one change or after it was missing: to sessions of all
transports it answers LOGICAL UNIT NOT SUPPORTED, also to writes, and is not reported, until they
log in again."""

import json

from transports import *

from protocol import pattern

WRITE_10, REPORT_LUNS = b"\x2a" + bytes(7) + b"\1\0", struct.pack(">B5xIxx", 0xa0, 64)


def at_once(daemon, name):
    with open(daemon.config_path, encoding="utf-8") as saved:
        text = saved.read().replace('"/backstores/ramdisk/rd0"', f'"/backstores/ramdisk/{name}"')
    daemon.rpc("tree.run", command="apply", path="/", named={
        "file": {"name": "/x", "document": json.loads(text)}, "force": True})


def step_by_step(daemon, name):
    for path in daemon.paths("luns"):
        daemon.delete(path, lun="0", force=True)
    for path in daemon.paths("luns"):
        daemon.run_at(path, "create", storage_object=f"/backstores/ramdisk/{name}", lun="0",
                      add_mapped_luns=True)


def is_withheld(peer):
    sense = 6, 0, 0
    while sense[0] == 6:  # what Linux does after a unit attention
        sense = peer.ask(WRITE_10, out=pattern(512)).sense or (0,)
    check(sense == (5, 0x25, 0), f"{peer.name}: WRITE: {sense}")
    check(peer.inquiry()[0] == 0x7f, f"{peer.name}: INQUIRY names a device")
    while (listed := peer.ask(REPORT_LUNS, 64)).status == CHECK:
        pass
    check(listed.data[:4] == bytes((0, 0, 0, 8)), f"{peer.name}: REPORT LUNS lists it")


def test(daemon):
    daemon.run_at("/backstores/ramdisk", "create", name="other", size="16M")
    for change in (at_once, step_by_step):
        peers = daemon.sessions_of_all()
        for peer in peers:
            check(peer.write_block(0, pattern(512)) == GOOD, f"{peer.name}: WRITE")
        change(daemon, "other")
        daemon.settle()
        for peer in peers:
            is_withheld(peer)
            peer.logout()
        for peer in daemon.sessions_of_all():
            check(peer.read_block(0) == bytes(512), f"{peer.name}: a WRITE reached the other disk")
            peer.logout()
        step_by_step(daemon, "rd0")


main(test, luns=2)
