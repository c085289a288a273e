# SPDX-License-Identifier: BSD-2-Clause
"""Commands of no blocks, descriptors and tables of no bytes, immediate data of no bytes: served,
and nothing is moved."""

from srp import *


def test(daemon):
    peer = daemon.session()
    for data in (NOTHING, peer.direct(b"", True), peer.indirect([], True),
                 peer.indirect([b"", b""], True), peer.indirect([b"", b""], True, 0)):
        peer.run(cdb10(READ10, 0, 0), data_in=data)
    for data in (NOTHING, peer.direct(b""), peer.indirect([]), peer.indirect([b"", b""]),
                 peer.immediate(b"")):
        peer.run(cdb10(WRITE10, 0, 0), data)
    check(peer.writes == 0, f"{peer.writes} RDMA Writes of nothing")
    check(peer.reads <= 1, f"{peer.reads} RDMA Reads: at most one of a table")


main(test)
