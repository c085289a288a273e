#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""RAM disks are created, written, read, resized and deleted while the machine's pool of huge pages
shrinks and grows: every command of a disk that exists ends with GOOD, and what was written is read."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "lib"))

from farblock import Config, Farblockd, Scratch, Shell, check, main, run  # noqa: E402
from huge_pages import Pool  # noqa: E402
from iscsi import Session, read16, write16  # noqa: E402

ROUNDS = 20
MIB = 1 << 20
STEP = 64 << 10
KINDS = (), ("hugepages=true",)


def touch(pool, session, first, last, data):
    """A write and a read at the beginning of every huge page, some time after it was mapped."""
    pool.changed(100)
    for at in range(first, last, 2 * MIB):
        check(session.run(write16(at // 512, STEP // 512), data).is_good, f"write at {at}")
    for at in range(0, last, 2 * MIB):
        got = session.run(read16(at // 512, STEP // 512), read_len=STEP)
        check(got.is_good and got.data_in == data, f"read at {at}: status {got.status}")


def grow(daemon, name, size):
    """False: refused, with the reason."""
    done = run(["farblock", "--socket", daemon.socket_path, f"/backstores/ramdisk/{name}", "resize",
                str(size)], check=False)
    check(not done.returncode or "huge pages of 2 MiB: " in done.stdout, done.stdout)
    return not done.returncode


def one(pool, daemon, target, kind, number):
    """False: it was refused for want of huge pages."""
    shell, size = Shell(daemon), 16 * MIB
    done = run(["farblock", "--socket", daemon.socket_path, "/backstores/ramdisk", "create",
                f"r{number}", str(size), *kind], check=False)
    if done.returncode:
        check(kind and "huge pages of 2 MiB: " in done.stdout, done.stdout)
        return False
    lun = shell(f"{target.path}/luns", "create", f"/backstores/ramdisk/r{number}", "1")
    check("LUN 1" in lun, lun)
    session, data = Session(target.url(1), isid=number), os.urandom(STEP)
    touch(pool, session, 0, size, data)
    if grow(daemon, f"r{number}", 2 * size):
        touch(pool, session, size, 2 * size, data)
    session.logout()
    shell(f"{target.path}/luns", "delete", "1")
    shell("/backstores/ramdisk", "delete", f"r{number}")
    return True


def test():
    config = Config()
    target = config.target(luns=[config.ramdisk("first", MIB)])
    with Pool(34) as pool, Scratch() as scratch, Farblockd(scratch, config) as daemon:
        pool.change()
        made = {kind: sum(one(pool, daemon, target, kind, n) for n in range(ROUNDS)) for kind in KINDS}
        check(made[()] == ROUNDS, f"{made}")
        print(json.dumps({" ".join(kind) or "default": n for kind, n in made.items()}))
    return 0


main(test)
