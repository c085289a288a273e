# SPDX-License-Identifier: BSD-2-Clause
"""16 MiB each way in commands of 128 KiB with the defaults of iscsid: no payload byte is copied."""

from initiators import Iscsid
from protocol import *


def test(daemon):
    peer = daemon.session(kind=Iscsid)
    data = pattern(131072)
    before = daemon.copies()
    for at in range(0, 32768, 256):
        peer.write(at, data)
    writes = daemon.copies() - before
    for at in range(0, 32768, 256):
        check(peer.read(at, 256) == data, "read back differs")
    reads = daemon.copies() - before - writes
    check(reads == 0, f"{reads} copies in 128 reads")
    check(writes == 0, f"{writes} copies in 128 writes")


main(test)
