#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Kills the daemon with SIGKILL in the middle of writes, starts it again and reads every block:
what was acknowledged has to be there, in each cache mode. An overlay's blocks are written for the
first time meanwhile.

Every write carries its block's number and a generation that counts up, repeated through the
block. After the restart each 512 bytes of a block must hold one generation, at least the last
one acknowledged and at most the last one sent. Meanwhile qemu-img writes to a LUN beside it, and
an image it has converted and flushed before has to compare equal afterwards.

    kill9.py                 farblockd: fileio, overlays and block
    kill9.py --peer NAME     a peer of tests/lib/peers.py, to see that the test itself works: of
                             which only what was flushed has to be there
"""

import argparse
import contextlib
import os
import random
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
import iscsi  # noqa: E402
import overlay  # noqa: E402
import peers  # noqa: E402

MIB = 1 << 20
SIZE, BLOCK, SECTOR = 16 * MIB, 4096, 512
DEPTH, WRITES_A_FLUSH = 16, 100
MODES = [(kind, mode) for kind in ("fileio", "overlay", "block")
         for mode in ("none", "writethrough", "writeback")]


def content(block, generation):
    return struct.pack("<QQ", block, generation) * (BLOCK // 16)


class Record:
    """What is known of each block: generations sent, acknowledged and flushed."""

    def __init__(self, blocks):
        self.sent, self.acknowledged, self.flushed = [0] * blocks, [0] * blocks, [0] * blocks
        self.flushes = 0

    def snapshot(self):
        return list(self.acknowledged)

    def flush_done(self, snapshot):
        self.flushed, self.flushes = snapshot, self.flushes + 1

    def generation(self, block, sector):
        """What this sector of the block holds; None: no generation of that block."""
        number, generation = struct.unpack_from("<QQ", sector)
        is_whole = sector == sector[:16] * (SECTOR // 16) and number == block
        return generation if is_whole else None


def base_image(scratch, size):
    """An image with generation 0 everywhere."""
    return scratch.file("base.img",
                        content=b"".join(content(block, 0) for block in range(size // BLOCK)))


def fill(session, record):
    """Generation 0 everywhere, flushed."""
    for block in range(len(record.sent)):
        command = session.run(iscsi.write16(block * 8, 8), content(block, 0))
        if not command.is_good:
            raise farblock.Failure(f"block {block}: not written, status {command.status}, "
                                   f"sense {command.sense.hex()}")
    if not session.run(iscsi.SYNCHRONIZE_CACHE).is_good:
        raise farblock.Failure("not flushed")


def write_one(session, record, dice, busy):
    block = dice.randrange(len(record.sent))
    while block in busy:  # two writes of a block at once may end in either order
        block = dice.randrange(len(record.sent))
    busy.add(block)
    record.sent[block] += 1
    session.submit(iscsi.write16(block * 8, 8), content(block, record.sent[block]),
                   tag=("write", block, record.sent[block]))


def take(record, command, busy):
    """Notes a command that has ended."""
    if not command.is_good:
        raise farblock.Failure(f"{command.tag[0]}: status {command.status:02x}")
    if command.tag[0] == "write":
        _, block, generation = command.tag
        record.acknowledged[block] = generation
        busy.discard(block)
    else:
        record.flush_done(command.tag[1])


def write_until_killed(session, record, dice, kill_after, kill):
    """Keeps writes and flushes in flight; when kill_after answers have come, kills."""
    busy, submitted, answers = set(), 0, 0
    try:
        while True:
            while len(session.commands) < DEPTH and session.has_room:
                if submitted % WRITES_A_FLUSH == WRITES_A_FLUSH - 1:
                    session.submit(iscsi.SYNCHRONIZE_CACHE, tag=("flush", record.snapshot()))
                else:
                    write_one(session, record, dice, busy)
                submitted += 1
            take(record, session.wait(), busy)
            answers += 1
            if answers == kill_after:
                kill()
    except iscsi.Closed:
        session.close()
    if answers < kill_after:
        raise farblock.Failure(f"connection lost after {answers} answers, before the kill")


def verify(session, record, what):
    """Every sector of every block within its bounds; returns the blocks beyond the flush."""
    later = 0
    for block, (low, high) in enumerate(zip(record.flushed, record.sent)):
        data = bytes(session.run(iscsi.read16(block * 8, 8), read_len=BLOCK).data_in)
        for at in range(0, BLOCK, SECTOR):
            sector = data[at:at + SECTOR]
            generation = record.generation(block, sector)
            if generation is None or not low <= generation <= high:
                raise farblock.Failure(
                    f"{what}: block {block}, byte {at}: generation {generation} "
                    f"({sector[:16].hex()}), not {low} (flushed) to {high} (sent)")
            later += at == 0 and generation > low
    return later


def converted(scratch, url):
    """An image put on a LUN with qemu-img, which flushes at its end."""
    source = scratch.file("converted.img", content=random.Random(7).randbytes(SIZE))
    farblock.run(["qemu-img", "convert", "-n", "-f", "raw", "-O", "raw", "-t", "none", source, url])
    return source


def session_at(urls):
    """A session at the first LUN. All are there: the kernel may keep the killed daemon's files for as
    long as its I/O lasts, and a LUN that comes later is a unit attention for a write."""
    for url in filter(None, urls):
        session = iscsi.Session(url)
        session.ready()
        session.close()
    session = iscsi.Session(urls[0])
    session.ready()
    return session


def one_kill(server, urls, record, dice, what, only_flushed, is_filled):
    """urls: of the LUN that is recorded, and of one that qemu-img writes to, or None."""
    session = session_at(urls)
    if not record.flushes and not is_filled:
        fill(session, record)
    noise = urls[1] and subprocess.Popen(
        [farblock.program("qemu-img"), "bench", "-f", "raw", "-t", "none", "-w", "-c", "10000000",
         "-d", "16", "-s", "16384", "--flush-interval=64", urls[1]], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        write_until_killed(session, record, dice, dice.randrange(500, 3000), server.kill)
    finally:
        if noise:
            noise.kill()
            noise.wait()
    if not only_flushed:
        record.flushed = record.snapshot()
    begin = time.monotonic()
    server.start()
    session = session_at(urls)
    restart = time.monotonic() - begin
    later = verify(session, record, what)
    # What was not flushed may be gone by right: later flushes do not cover it.
    record.acknowledged = list(record.flushed)
    session.logout()
    print(f"{what}: killed after flush {record.flushes}, back in {restart:.2f} s: every "
          f"{'flushed' if only_flushed else 'acknowledged'} block is there, {later} blocks newer",
          flush=True)


def kills(server, scratch, urls, rounds, what, only_flushed=False, is_filled=False):
    """urls: recorded, written by qemu-img, converted once; the last two may be None."""
    record, dice = Record(SIZE // BLOCK), random.Random(what)
    source = converted(scratch, urls[2]) if urls[2] else None
    for _ in range(rounds):
        one_kill(server, urls, record, dice, what, only_flushed, is_filled)
        if source:
            farblock.run(["qemu-img", "compare", "-f", "raw", "-F", "raw", source, urls[2]])


@contextlib.contextmanager
def loop_device(path):
    device = farblock.run(["losetup", "--find", "--show", "--direct-io=on", path]).stdout.strip()
    try:
        yield device
    finally:
        farblock.run(["losetup", "--detach", device])


def farblockd(scratch, rounds, kind, mode):
    what, config = f"{kind}, cache={mode}", farblock.Config()
    with contextlib.ExitStack() as stack:
        paths = [scratch.file(f"{kind}-{mode}-{i}.img", size=SIZE) for i in range(3)]
        if kind == "block":
            paths = [stack.enter_context(loop_device(path)) for path in paths]
        keys = {"size": SIZE} if kind == "fileio" else {}
        if kind == "overlay":
            keys = {"base": base_image(scratch, SIZE), "overlay": "map"}
            for path in paths:
                overlay.make(path, keys["base"])
        attributes = {"emulate_write_cache": int(mode != "writethrough")}
        disks = [config.storage("block" if kind == "block" else "fileio", f"disk{i}", attributes,
                                dev=path, cache=mode, **keys)
                 for i, path in enumerate(paths)]
        target = config.target(disks)
        name = f"farblockd-{kind}-{mode}"
        daemon = stack.enter_context(farblock.Farblockd(scratch, config, name))
        kills(daemon, scratch, [target.url(lun) for lun in range(3)], rounds, what,
              is_filled=kind == "overlay")
        daemon.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--peer", metavar="NAME")
    options = parser.parse_args()
    with farblock.Scratch() as scratch:
        if options.peer:
            with peers.by_name(options.peer, scratch, SIZE) as peer:
                kills(peer, scratch, [peer.url, None, None], options.rounds, peer.name, True)
        else:
            for kind, mode in MODES:
                farblockd(scratch, options.rounds, kind, mode)
    return 0


if __name__ == "__main__":
    farblock.main(main)
