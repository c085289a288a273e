# SPDX-License-Identifier: BSD-2-Clause
"""Whatever is in place of the file with the number of VPD page F0h: farblockd starts, and says in its
log that the number is a new one."""

import os

from protocol import *


def fifo(path):
    os.mkfifo(path)


def folder(path):
    os.mkdir(path)


def link(path):
    os.symlink("/etc/passwd", path)


def huge(path):
    with open(path, "wb") as out:
        out.truncate(1 << 40)


def text(path):
    with open(path, "wb") as out:
        out.write(b"0123456789abcdef\n")


def test(daemon):
    path = f"{daemon.state_path}/server/id"
    for put in (fifo, folder, link, huge, text):
        daemon.kill()
        if os.path.isdir(path):
            os.rmdir(path)
        elif os.path.lexists(path):
            os.unlink(path)
        put(path)
        before = len(daemon.log())
        daemon.start()
        daemon.session().logout()
        log = daemon.log()[before:]
        check(f"{path}: " in log and "initiators cannot tell" in log, f"{put.__name__}: {log}")


main(test)
