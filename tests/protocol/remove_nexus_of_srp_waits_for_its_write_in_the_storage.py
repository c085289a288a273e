# SPDX-License-Identifier: BSD-2-Clause
"""REMOVE I_T NEXUS ends the channels of another port of the same SRP initiator, and is answered when
their write has left the storage."""

from removal import *


def test(daemon):
    for turn in range(4):
        peer, old = daemon.session(Srp), daemon.session(Srp, initiator=SECOND_PORT)
        name = name_of(old, SECOND_PORT)
        keeps_writes(daemon)
        leave_write(daemon, old, turn)
        keeps_writes(daemon, 0)
        remove(peer, name)
        check(peer.read_block(turn) == OLD, f"{turn}: answered before the write was over")
        old.expect_closed("after its nexus was removed")
        peer.logout()


main(test, acls=("0002:c903:000a:0002",))
