#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The power of the target fails in the middle of writes, in each cache mode of fileio: the disk
below loses what was not synced (tests/lib/volatile_disk.py), and farblockd ends. Afterwards is
there what was flushed, what was written with FUA, and in writethrough what was acknowledged. So it
is with an overlay, whose blocks are written for the first time: each is then as in the base, or as
it was written."""

import os
import random
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
import iscsi  # noqa: E402
import kill9  # noqa: E402
import overlay  # noqa: E402
from volatile_disk import VolatileDisk  # noqa: E402

SIZE, ROUNDS = 4 << 20, 6
FUA, FUA_EACH, FLUSH_EACH = 0x08, 90, 130


class Record(kill9.Record):
    """With writes that are durable when they are acknowledged."""

    def __init__(self, blocks, is_durable):
        super().__init__(blocks)
        self.is_durable = is_durable

    def write_done(self, block, generation, is_fua):
        self.acknowledged[block] = generation
        if is_fua or self.is_durable:
            self.flushed[block] = generation

    def flush_done(self, snapshot):
        super().flush_done([max(pair) for pair in zip(snapshot, self.flushed)])


def submit_write(session, record, dice, busy, is_fua):
    block = dice.choice([b for b in range(len(record.sent)) if b not in busy])
    busy.add(block)
    record.sent[block] += 1
    cdb = bytearray(iscsi.write16(block * 8, 8))
    if is_fua:
        cdb[1] |= FUA
    session.submit(bytes(cdb), kill9.content(block, record.sent[block]),
                   tag=("write", block, record.sent[block], is_fua))


def submit(session, record, dice, busy, number):
    if number % FLUSH_EACH == FLUSH_EACH - 1:
        session.submit(iscsi.SYNCHRONIZE_CACHE, tag=("flush", record.snapshot()))
    else:
        submit_write(session, record, dice, busy, number % FUA_EACH == 0)


def take(session, record, busy):
    command = session.wait()
    if not command.is_good:
        raise farblock.Failure(f"{command.tag}: status {command.status}, {command.sense.hex()}")
    if command.tag[0] == "flush":
        record.flush_done(command.tag[1])
    else:
        record.write_done(*command.tag[1:])
        busy.discard(command.tag[1])


def write_until_cut(session, record, dice, cut_after):
    """Returns the blocks that are being written."""
    busy, submitted = set(), 0
    for _ in range(cut_after):
        while len(session.commands) < kill9.DEPTH and session.has_room:
            submit(session, record, dice, busy, submitted)
            submitted += 1
        take(session, record, busy)
    return busy


def sync_until_cut(disk, session, record, dice, busy):
    """The power fails in one of the next syncs. Commands fail from then on."""
    disk.cut_in_sync()
    while disk.is_alive():
        if session.has_room:
            submit_write(session, record, dice, busy, True)
        command = session.wait()
        if command.is_good and command.tag[0] == "write":
            record.write_done(*command.tag[1:])


def cut(disk, daemon, session):
    """No answer leaves the target after the disk has lost its power, but of failures."""
    daemon.pause()
    disk.cut()
    daemon.kill()
    session.close()


def lost(session, record):
    """How many acknowledged writes are gone."""
    count = 0
    for block, generation in enumerate(record.acknowledged):
        data = bytes(session.run(iscsi.read16(block * 8, 8), read_len=kill9.BLOCK).data_in)
        count += int.from_bytes(data[8:16], "little") < generation
    return count


def cuts(disk, daemon, url, mode, base):
    size = os.stat(base).st_size if base else SIZE
    record, dice = Record(size // kill9.BLOCK, mode == "writethrough"), random.Random(mode)
    session = iscsi.Session(url)
    session.ready()
    if not base:
        kill9.fill(session, record)
    gone = 0
    for _ in range(ROUNDS):
        busy = write_until_cut(session, record, dice, dice.randrange(300, 900))
        if base:
            sync_until_cut(disk, session, record, dice, busy)
        cut(disk, daemon, session)
        if base:
            overlay.forget_boot(disk.durable)
        disk.start()
        daemon.start()
        session = iscsi.Session(url)
        session.ready()
        kill9.verify(session, record, f"cache={mode}")
        gone += lost(session, record)
        record.acknowledged = list(record.flushed)
    session.logout()
    print(f"{'overlay, ' if base else ''}cache={mode}: after {ROUNDS} power cuts everything that was durable is there, "
          f"{gone} other acknowledged writes are gone", flush=True)
    return gone


def a_restart_makes_the_map_of_a_killed_process_durable(scratch, base):
    """farblockd is killed when it has written the map of a first write and not yet synced it. The next
    one takes the block for the overlay's: a power cut must not give it back to the base."""
    content = scratch.file("killed.ov")
    disk = VolatileDisk(scratch, "killed", overlay.make(content, base))
    shutil.copyfile(content, disk.durable)
    config = farblock.Config()
    with disk:
        target = config.target([config.storage("fileio", "killed", dev=disk.path, base=base, overlay="map",
                                               size=os.stat(base).st_size)])
        with farblock.Farblockd(scratch, config, "farblockd-killed") as daemon:
            session = iscsi.Session(target.url())
            session.ready()
            disk.kill_in_sync(daemon.process.pid)
            cdb = bytearray(iscsi.write16(0, 8))
            cdb[1] |= FUA
            session.submit(bytes(cdb), bytes(kill9.BLOCK), tag="write")
            daemon.process.wait()
            session.close()
            farblock.check(not overlay.blocks(disk.durable, base), "the map was synced before the kill")
            daemon.start()
            disk.cut()
            daemon.kill()
    farblock.check(overlay.blocks(disk.durable, base) == 1, "the map is not durable after a restart")
    print("a restart makes the map of a killed process durable", flush=True)


def run(scratch, mode, base=None):
    config = farblock.Config()
    name, keys, size = mode, {"size": SIZE}, SIZE
    if base:
        name, keys = f"overlay-{mode}", {"base": base, "overlay": "map"}
        content = scratch.file(f"{name}.ov")
        size = overlay.make(content, base)
    disk = VolatileDisk(scratch, name, size)
    if base:
        shutil.copyfile(content, disk.durable)
    with disk:
        path = config.storage("fileio", name, {"emulate_write_cache": int(mode != "writethrough")},
                              dev=disk.path, cache=mode, **keys)
        target = config.target([path])
        with farblock.Farblockd(scratch, config, f"farblockd-{name}") as daemon:
            gone = cuts(disk, daemon, target.url(), mode, base)
            # The test can tell a disk that loses writes from one that does not.
            if (gone == 0) != (mode == "writethrough"):
                raise farblock.Failure(f"cache={mode}: {gone} acknowledged writes are gone")
            daemon.stop()


def main():
    with farblock.Scratch() as scratch:
        base = kill9.base_image(scratch, 4 * SIZE)
        a_restart_makes_the_map_of_a_killed_process_durable(scratch, base)
        for mode in ("none", "writethrough", "writeback"):
            run(scratch, mode)
            run(scratch, mode, base)
    return 0


if __name__ == "__main__":
    farblock.main(main)
