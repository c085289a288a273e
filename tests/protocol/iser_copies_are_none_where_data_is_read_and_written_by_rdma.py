# SPDX-License-Identifier: BSD-2-Clause
"""16 MiB each way in commands of 128 KiB over iSER without immediate data: no payload byte is
copied."""

from iser import *


def test(daemon):
    peer = daemon.session({"ImmediateData": "No"}, kind=IserPeer)
    data = pattern(131072)
    before = daemon.copies()
    for at in range(0, 32768, 256):
        peer.write(at, data)
    for at in range(0, 32768, 256):
        check(peer.read(at, 256) == data, "read back differs")
    copies = daemon.copies() - before
    check(copies == 0, f"{copies} copies")


main(test)
