# SPDX-License-Identifier: BSD-2-Clause
"""The file of a LUN that was missing returns to its path at the moment in which another one there is
opened, which fanotify(7) makes last: the LUN is withheld, as what is open is the other one. Needs
root."""

import ctypes
import os
import threading

from missing import *

from farblock import Skip

CONTENT, ADD, OPEN_PERM, ALLOW, HERE = 4, 1, 0x10000, 1, -100


def opens_of(path):
    """A descriptor that tells who opens the file, and has them wait for an answer."""
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.fanotify_init(CONTENT, os.O_RDONLY)
    if fd < 0 or libc.fanotify_mark(fd, ADD, ctypes.c_uint64(OPEN_PERM), HERE, path.encode()) < 0:
        raise Skip(f"fanotify: {os.strerror(ctypes.get_errno())}")
    return fd


def lose(daemon, aside):
    os.rename(daemon.path, aside)
    apply(daemon, daemon.document.replace("fileio/late", "fileio/new").replace('"late"', '"new"'))


def open_while_it_is_exchanged(daemon, own):
    """The other file is opened at the path, which names the own one before the open returns."""
    opens = opens_of(daemon.other)
    os.rename(daemon.other, daemon.path)
    refresh = threading.Thread(target=daemon.rpc, args=("tree.run",),
                               kwargs={"command": "refresh", "path": "/"})
    refresh.start()
    event = struct.unpack("=IBxHQii", os.read(opens, 24))[4]
    os.rename(daemon.path, daemon.other)
    os.rename(own, daemon.path)
    os.write(opens, struct.pack("=iI", event, ALLOW))
    os.close(event)
    os.close(opens)
    refresh.join()


def test(daemon):
    own = daemon.path + ".own"
    make_file(daemon.path)
    peers = daemon.sessions_of_all()
    daemon.rpc("tree.run", command="refresh", path="/")
    become(peers, SERVED, TWO_LUNS)
    lose(daemon, own)
    become(peers, WAITING, TWO_LUNS)
    open_while_it_is_exchanged(daemon, own)
    become(peers, WITHHELD, ONE_LUN)
    with open(daemon.other, "rb") as found:
        check(found.read() == bytes(SIZE), "a WRITE reached the other file")


main(test)
