# SPDX-License-Identifier: BSD-2-Clause
"""The memory of a RAM disk is gone (here its file is cut, as the kernel may refuse a page): a write
ends with WRITE ERROR and the log names the disk; the session goes on, and the disk once the memory
is there."""

import os

from protocol import *

from iscsi import Session, write16  # noqa: E402


def memory_of(daemon):
    folder = f"/proc/{daemon.pid}/fd"
    return next(f"{folder}/{name}" for name in os.listdir(folder)
                if "memfd:farblock-ramdisk" in os.readlink(f"{folder}/{name}"))


def test(daemon):
    session = Session(daemon.target.url())
    session.ready()
    path, data = memory_of(daemon), os.urandom(65536)
    size = os.stat(path).st_size
    os.truncate(path, 0)
    end = session.run(write16(8, 128), data)
    check(end.status == 2 and end.sense[2] & 15 == 3 and end.sense[12:14] == b"\x0c\0",
          f"status {end.status}, sense {end.sense.hex()}")
    eventually("the log names it", lambda: "write of LBA 8 to 135: Bad address" in daemon.log())
    os.truncate(path, size)
    check(session.run(write16(8, 128), data).is_good, "a write after it")
    session.logout()


main(test)
