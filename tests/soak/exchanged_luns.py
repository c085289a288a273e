#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Two disks take turns under LUN 0 by apply, undo, import, restoreconfig and a transaction, each
refused first without force, while initiators over TCP, iSER and SRP write it with several commands
in flight. Each block says which disk it is meant for. After a unit attention a write is repeated,
as Linux does; after LOGICAL UNIT NOT SUPPORTED the initiator logs in again. In the end every block
of both disks is read: none is of the other disk.

    exchanged_luns.py [--rounds N] [--seconds N] [--only-forced] [WAY...]

--rounds: of all ways; --seconds: no round begins later; --only-forced: do not try without force."""

import argparse
import json
import os
import struct
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "protocol"))
from transports import (CHECK, GOOD, ISIDS, RESPONSE, RSP, WRITE, Client, Daemon, Iser,  # noqa: E402
                        Srp, Tcp, check, eventually)
from farblock import Config, Failure, Scratch, main  # noqa: E402
from link import Closed  # noqa: E402

MIB, DEPTH, BLOCKS, PIECE = 1 << 20, 8, 8, 4096
SIZE = 12 * MIB  # a third for each transport
WAYS = "apply", "undo", "import", "restoreconfig", "transaction"


class Load(threading.Thread):
    """An initiator that writes to the disk that it finds."""

    def __init__(self, daemon, kind, index):
        super().__init__(daemon=True)
        self.farblockd, self.kind, self.first = daemon, kind, index * SIZE // 3 // 512
        self.writes = self.repeated = self.refused = self.logins = self.turn = 0
        self.seen, self.on, self.is_over, self.why = None, 0, False, None

    def login(self):
        iscsi = self.farblockd.others[0]
        if self.kind is Srp:
            return self.farblockd.session(Srp)
        peer = self.kind(self.farblockd, iscsi.portals[0], target=iscsi.iqn,
                         isid=bytes.fromhex(ISIDS[self.kind.name]))
        return peer.login()

    def send(self, peer, serial):
        """Sends the next write; returns its tag."""
        self.turn = (self.turn + BLOCKS) % (SIZE // 3 // 512)
        block = f"{serial} {self.kind.name} {self.turn} ".encode().ljust(512, b".")
        cdb, out = struct.pack(">BBIBHB", 0x2a, 0, self.first + self.turn, 0, BLOCKS, 0), block * BLOCKS
        if self.kind is Srp:
            return peer.send(peer.command(cdb, peer.direct(out))).tag
        if self.kind is Iser:
            return peer.send(peer.write_from(peer.task(cdb, PIECE, WRITE), out)).itt
        return peer.send(peer.task(cdb, PIECE, WRITE, out)).itt

    def finish(self, peer, serial):
        """Takes one answer."""
        end = peer.expect(RSP if self.kind is Srp else RESPONSE)
        if end.status == GOOD:
            self.writes += 1
            self.seen, self.on = serial, self.on + 1
        elif end.status == CHECK and end.sense[0] == 6:
            self.repeated += 1
        else:
            self.refused += 1
            return end.status == CHECK and end.sense[:2] == (5, 0x25)
        return False

    def write(self, peer, serial):
        """Until the disk is gone; then what is in flight is waited for."""
        flight, is_gone = 0, False
        while flight or not (is_gone or self.is_over):
            while flight < DEPTH and not is_gone and not self.is_over:
                self.send(peer, serial)
                flight += 1
            is_gone = self.finish(peer, serial) or is_gone
            flight -= 1

    def session(self):
        peer, self.on = self.login(), 0
        self.logins += 1
        page = peer.inquiry(0x80) if peer.inquiry()[0] != 0x7f else b""
        if page:
            self.write(peer, bytes(page[4:4 + page[3]]).decode().strip())
        peer.logout()

    def run(self):
        try:
            while not self.is_over:
                try:
                    self.session()
                except Closed:
                    self.seen = None
        except BaseException as why:  # for the main thread
            self.why = why


class Exchange:
    """Puts the other disk under LUN 0, in one of the ways."""

    def __init__(self, daemon, serials, only_forced):
        self.daemon, self.client = daemon, Client(daemon)
        self.serials, self.now, self.only_forced = serials, 0, only_forced
        self.done, self.refusals = 0, 0

    def document(self):
        with open(self.daemon.config_path, encoding="utf-8") as saved:
            text = saved.read()
        for target in (doc := json.loads(text))["targets"]:
            target["tpgs"][0]["luns"][0]["storage_object"] = f"/backstores/fileio/d{1 - self.now}"
        return {"name": "/x", "document": doc}

    def transaction(self, force):
        self.client("begin")
        for path in self.daemon.paths("luns"):
            why = self.client("delete", path, lun="0", force=force)
            if isinstance(why, str):
                self.client("abort")
                return why
            self.client("create", path, lun="0", add_mapped_luns=True,
                        storage_object=f"/backstores/fileio/d{1 - self.now}")
        return self.client("commit")

    def run(self, way, force):
        if way == "transaction":
            return self.transaction(force)
        forced = {"force": True} if force else {}
        if way == "undo":
            return self.client("undo", **forced)
        if way == "apply":
            return self.client("apply", file=self.document(), **forced)
        if way == "restoreconfig":
            return self.client(way, savefile=self.document(), clear_existing=True, **forced)
        return self.client(way, kind="scst", clear_existing=True,
                           file={**self.document(), "notes": []}, **forced)

    def once(self, way, loads):
        """When all have written to the disk in this session."""
        def all_write():
            for load in loads:
                if load.why:
                    raise load.why
            return all(load.on >= DEPTH and load.seen == self.serials[self.now] for load in loads)
        eventually(f"{way}: all write to disk {self.now}", all_write)
        if not self.only_forced:
            why = self.run(way, False)
            check(isinstance(why, str) and "in use by" in why, f"{way} is not refused: {why}")
            self.refusals += 1
        done = self.run(way, True)
        check(not isinstance(done, str), f"{way}: {done}")
        self.now, self.done = 1 - self.now, self.done + 1


def foreign_blocks(files, serials):
    """Reads every block of both disks: (blocks written, blocks that are of the other disk)."""
    written = foreign = 0
    for name, serial in zip(files, serials):
        with open(name, "rb") as disk:
            while block := disk.read(512):
                if block.strip(b"\0"):
                    written += 1
                    foreign += not block.startswith(serial.encode() + b" ")
    return written, foreign


def rounds_of(options, exchange, loads):
    begin = time.monotonic()
    for number in range(1, options.rounds + 1):
        if time.monotonic() - begin > options.seconds:
            return
        for way in options.ways:
            exchange.once(way, loads)
        if number % 10 == 0:
            print(f"round {number}: {time.monotonic() - begin:.0f} s", flush=True)


def test():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--only-forced", action="store_true")
    parser.add_argument("ways", nargs="*", default=WAYS)
    options = parser.parse_args()
    with Scratch(in_memory=True) as scratch:
        config, files = Config(), [scratch.file(f"d{i}.img") for i in range(2)]
        disks = [config.fileio(f"d{i}", name, SIZE) for i, name in enumerate(files)]
        serials = [disk["wwn"] for disk in config.storage_objects]
        srp = config.srp_target(disks[:1])
        iscsi = config.target(disks[:1], attributes={"nopin_timeout": 60})
        daemon = Daemon(scratch, config, cpus=(0, 1))
        daemon.target, daemon.others = srp, [iscsi]
        with daemon:
            exchange = Exchange(daemon, serials, options.only_forced)
            loads = [Load(daemon, kind, i) for i, kind in enumerate((Tcp, Iser, Srp))]
            for load in loads:
                load.start()
            failure = None
            try:
                rounds_of(options, exchange, loads)
            except Failure as why:  # what it did to the disks is told too
                failure = why
            for load in loads:
                load.is_over = True
                load.join()
        written, foreign = foreign_blocks(files, serials)
        print(f"{exchange.done} exchanges, {exchange.refusals} refused without force")
        for load in loads:
            print(f"{load.kind.name}: {load.writes} writes, {load.repeated} repeated after a unit "
                  f"attention, {load.refused} refused, {load.logins} logins")
        print(f"{written} blocks with data on both disks, {foreign} of the other disk")
        check(not foreign, f"{foreign} blocks are meant for the other disk")
        if failure:
            raise failure


main(test)
