# SPDX-License-Identifier: BSD-2-Clause
"""16 MiB each way in commands of 128 KiB, by direct descriptors and tables of 32 KiB each: no
payload byte is copied."""

from srp import *


def test(daemon):
    peer = daemon.session()
    data = pattern(131072)
    pieces = [data[at:at + 32768] for at in range(0, len(data), 32768)]
    before = daemon.copies()
    for at in range(0, 32768, 256):
        out = peer.indirect(pieces) if at % 512 else peer.direct(data)
        peer.response(peer.send(peer.write_from(out, at)))
    for at in range(0, 32768, 256):
        check(peer.read(at, 256) == data, "read back differs")
    check(daemon.copies() == before, f"{daemon.copies() - before} copies")


main(test)
