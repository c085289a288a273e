# SPDX-License-Identifier: BSD-2-Clause
"""REMOVE I_T NEXUS ends the channels of another port of the same SRP initiator, and is answered when
their write has left the storage."""

from removal import *


def test(daemon):
    for turn in range(4):
        peer, old = daemon.session(Srp), daemon.session(Srp, initiator=SECOND_PORT)
        removes_with_its_write(daemon, peer, old, turn, SECOND_PORT)
        peer.logout()


main(test, acls=("0002:c903:000a:0002",))
