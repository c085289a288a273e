#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Whose the machine's pool of huge pages is: farblockd takes none unless a RAM disk asks for them;
such a disk has all of its own before it is used, whatever becomes of the pool, and says what it
lacks."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "lib"))

from farblock import Config, Farblockd, Scratch, Shell, check, main  # noqa: E402
from huge_pages import Pool, held_by  # noqa: E402
from iscsi import Session, read16, write16  # noqa: E402

MIB = 1 << 20
PAGES = 64  # more than needed, for programs that take some meanwhile
DISK = "/backstores/ramdisk/huge"


def written(session, first, last, mark):
    for at in range(first, last):
        check(session.run(write16(at * 2048, 2048), mark * MIB).is_good, f"write of MiB {at}")


def expect(session, first, last, mark):
    for at in range(first, last):
        got = session.run(read16(at * 2048, 2048), read_len=MIB)
        check(got.is_good and got.data_in == mark * MIB, f"MiB {at}: status {got.status}")


def nothing_is_taken_unasked(daemon, session):
    written(session, 0, 64, b"a")
    expect(session, 0, 64, b"a")
    check(held_by(daemon) == (0, 0), f"bytes of huge pages: {held_by(daemon)}")


def all_are_taken_at_once(daemon, shell, target):
    shell("/backstores/ramdisk", "create", "huge", "63M", "hugepages=true")
    check(held_by(daemon) == (64 * MIB, 64 * MIB), f"bytes of huge pages: {held_by(daemon)}")
    shell(f"{target.path}/luns", "create", DISK, "1")


def a_pool_that_shrinks_takes_nothing_back(pool, session):
    pool.shrink()
    written(session, 0, 63, b"b")
    expect(session, 0, 63, b"b")


def growth_without_pages_is_refused(daemon, shell, session):
    shell(DISK, "resize", "128M", status=1,
          text="resize: huge pages of 2 MiB: 32 are needed, ")
    check(held_by(daemon) == (64 * MIB, 64 * MIB), f"bytes of huge pages: {held_by(daemon)}")
    check(session.capacity()[0] == 63 * 2048, f"{session.capacity()}")
    expect(session, 0, 63, b"b")


def growth_takes_what_it_needs(daemon, pool, shell, session):
    pool.free(PAGES)
    shell(DISK, "resize", "128M")
    check(held_by(daemon) == (128 * MIB, 128 * MIB), f"bytes of huge pages: {held_by(daemon)}")
    pool.shrink()
    written(session, 64, 128, b"c")
    expect(session, 0, 63, b"b")
    expect(session, 64, 128, b"c")


def it_waits_for_its_pages(daemon, shell):
    daemon.stop()
    daemon.start()
    shell("/backstores/ramdisk", "ls", text="waiting: ")


def test():
    config = Config()
    target = config.target(luns=[config.ramdisk("rd0", 64 * MIB)])
    with Pool(PAGES) as pool, Scratch() as scratch, Farblockd(scratch, config) as daemon:
        shell = Shell(daemon)
        nothing_is_taken_unasked(daemon, Session(target.url()))
        all_are_taken_at_once(daemon, shell, target)
        session = Session(target.url(1), isid=2)
        a_pool_that_shrinks_takes_nothing_back(pool, session)
        growth_without_pages_is_refused(daemon, shell, session)
        growth_takes_what_it_needs(daemon, pool, shell, session)
        it_waits_for_its_pages(daemon, shell)
    return 0


main(test)
