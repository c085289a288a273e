# SPDX-License-Identifier: BSD-2-Clause
"""READ and WRITE through one direct descriptor: each RDMA operation stays inside it, a write takes
no more of them than it needs."""

from srp import *


def test(daemon):
    peer = daemon.session()
    for blocks in (1, 7, 8, 128, 2048):
        data = pattern(blocks * BLOCK, blocks)
        reads = peer.reads
        peer.write(blocks, data)
        check(0 < peer.reads - reads <= 1 + blocks // 128, f"{peer.reads - reads} RDMA Reads")
        check(peer.read(blocks, blocks) == data, f"{blocks} blocks: read back differs")


main(test)
