# SPDX-License-Identifier: BSD-2-Clause
"""The memory of a RAM disk is gone (here its file is cut) when a read's data is sent: its session
ends, since a status may be under way, the log names the disk and the blocks, and a new session is
served once the memory is there."""

import os

from protocol import *

from iscsi import Closed, Session, read16  # noqa: E402


def memory_of(daemon):
    folder = f"/proc/{daemon.pid}/fd"
    return next(f"{folder}/{name}" for name in os.listdir(folder)
                if "memfd:farblock-ramdisk" in os.readlink(f"{folder}/{name}"))


def test(daemon):
    session = Session(daemon.target.url())
    session.ready()
    path = memory_of(daemon)
    size = os.stat(path).st_size
    os.truncate(path, 0)
    for lba in 800, 8:
        session.submit(read16(lba, 128), read_len=65536)
    try:
        check(not session.wait(), "a read of no memory has ended")
    except Closed:
        pass
    for line in ("read of LBA 800 to 927: Bad address", "send: the memory of the data: Bad address"):
        eventually(f"the log has {line}", lambda: line in daemon.log())
    os.truncate(path, size)
    session = Session(daemon.target.url())
    got = session.run(read16(8, 128), read_len=65536)
    check(got.is_good and got.data_in == bytes(65536), f"a read after it: status {got.status}")
    session.logout()


main(test)
