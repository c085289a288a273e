# SPDX-License-Identifier: BSD-2-Clause
"""REMOVE I_T NEXUS ends a session of the initiator over TCP or iSER, on whichever worker, and is
answered when its write has left the storage: the medium has it, and what is written next stays."""

from removal import *


def test(daemon):
    for turn, (old_kind, kind) in enumerate(((Tcp, Tcp), (Iser, Tcp), (Tcp, Iser), (Iser, Iser))):
        peer, old = iscsi(daemon, kind), iscsi(daemon, old_kind, "80aabb000002")
        removes_with_its_write(daemon, peer, old, turn)
        check(peer.write_block(turn, NEW) == GOOD and peer.read_block(turn) == NEW, "not written")
        peer.logout()


main(test)
