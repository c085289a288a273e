#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Disks whose syncs take long do not delay a fast disk of the same worker: its durable writes end
while each of them syncs."""

import contextlib
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
import iscsi  # noqa: E402
from volatile_disk import Gate, VolatileDisk  # noqa: E402

SIZE, BLOCK, DEPTH = 1 << 20, 4096, 4
# More than the kernel has threads for blocking operations of a ring, unless it is told otherwise.
SLOW = 4 * min(os.cpu_count() or 1, 16) + 4


def login(target, lun):
    session = iscsi.Session(target.url(lun), isid=lun + 1)
    session.ready()
    return session


def begin_flush(target, lun):
    """A flush that does not end before the gate opens."""
    session = login(target, lun)
    session.submit(iscsi.SYNCHRONIZE_CACHE)
    return session


def write_durably(session):
    for block in range(DEPTH):
        session.submit(iscsi.write16(block * 8, 8), bytes(BLOCK))
    for _ in range(DEPTH):
        command = session.wait()
        if not command.is_good:
            raise farblock.Failure(f"write: status {command.status}, {command.sense.hex()}")


def end_flush(session):
    if not session.wait().is_good:
        raise farblock.Failure("a slow flush failed")
    session.logout()


def main():
    with farblock.Scratch() as scratch, contextlib.ExitStack() as stack:
        gate, config = Gate(), farblock.Config()
        disks = [stack.enter_context(VolatileDisk(scratch, f"slow{i}", SIZE, gate))
                 for i in range(SLOW)]
        paths = [config.storage("fileio", f"slow{i}", {"emulate_write_cache": 1}, dev=disk.path,
                                size=SIZE, cache="none") for i, disk in enumerate(disks)]
        paths.append(config.fileio("fast", scratch.file("fast.img"), SIZE))
        target = config.target(paths)
        stack.enter_context(farblock.Farblockd(scratch, config, cpus=(0,)))
        with contextlib.closing(gate):
            slow = [begin_flush(target, lun) for lun in range(SLOW)]
            fast = login(target, SLOW)
            write_durably(fast)
            print(f"{DEPTH} durable writes ended while {SLOW} disks synced", flush=True)
            fast.logout()
        for session in slow:
            end_flush(session)
    return 0


if __name__ == "__main__":
    farblock.main(main)
