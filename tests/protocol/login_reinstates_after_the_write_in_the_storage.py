# SPDX-License-Identifier: BSD-2-Clause
"""A login that reinstates a session over TCP or iSER is answered when a write of the old one has left
the storage: also if that session lives, was reset, or was dropped just before, on several workers."""

from removal import *


def test(daemon):
    for turn in range(6):
        old = iscsi(daemon, Iser if turn % 2 else Tcp)
        keeps_writes(daemon)
        leave_write(daemon, old, turn)
        keeps_writes(daemon, 0)
        if turn // 2:
            end(daemon, old, is_dropped=turn // 2 == 2)
        peer = iscsi(daemon)
        check(peer.read_block(turn) == OLD, f"{turn}: answered before the write was over")
        peer.logout()


main(test)
