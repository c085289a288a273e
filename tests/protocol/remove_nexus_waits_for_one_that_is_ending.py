# SPDX-License-Identifier: BSD-2-Clause
"""A nexus whose session has ended for another reason (its connection was closed, it was dropped) is
known as long as its write is in the storage: REMOVE I_T NEXUS waits for that."""

from removal import *


def test(daemon):
    for turn in range(4):
        peer, old = iscsi(daemon), iscsi(daemon, isid="80aabb000002")
        name = name_of(old)
        keeps_writes(daemon)
        leave_write(daemon, old, turn)
        keeps_writes(daemon, 0)
        end(daemon, old, is_dropped=turn % 2 == 1)
        remove(peer, name)
        check(peer.read_block(turn) == OLD, f"{turn}: answered before the write was over")
        peer.logout()


main(test)
