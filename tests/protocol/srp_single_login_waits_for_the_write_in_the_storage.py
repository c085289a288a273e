# SPDX-License-Identifier: BSD-2-Clause
"""An SRP login that ends older channels is answered when their write has left the storage: also if
their session lives, was reset, or was dropped just before, on several workers."""

from removal import *


def test(daemon):
    for turn in range(6):
        old = daemon.session(Srp)
        keeps_writes(daemon)
        leave_write(daemon, old, turn)
        keeps_writes(daemon, 0)
        if turn // 2:
            end(daemon, old, is_dropped=turn // 2 == 2)
        peer = daemon.session(Srp)
        check(peer.read_block(turn) == OLD, f"{turn}: answered before the write was over")
        peer.logout()


main(test)
