# SPDX-License-Identifier: BSD-2-Clause
"""A disk that grows is told to sessions of all transports by a unit attention, and its new blocks
are there for all."""

from transports import *


def test(daemon):
    peers = daemon.sessions_of_all()
    before = peers[0].blocks()
    daemon.run_at(DISK, "resize", size=str(2 * 512 * before))
    for peer in peers:
        peer.attention(0x2a, 0x09)  # CAPACITY DATA HAS CHANGED
        check(peer.blocks() == 2 * before, f"{peer.name}: {peer.blocks()} blocks")
        check(peer.write_block(2 * before - 1, bytes(512)) == GOOD, f"{peer.name}: the last block")


main(test)
