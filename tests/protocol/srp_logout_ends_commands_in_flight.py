# SPDX-License-Identifier: BSD-2-Clause
"""I_LOGOUT, or a close, while RDMA Reads of data and of tables are in flight: nothing follows, the
session is gone, the LUN serves others."""

from srp import *


def test(daemon):
    other = daemon.session(initiator=OTHER)
    for says_so in (True, False):
        peer = daemon.session()
        peer.held_write()
        peer.send(*[peer.write_from(peer.indirect([bytes(4096)] * 4, in_iu=0), 256 + 32 * i)
                    for i in range(40)],
                  *[peer.read_into(peer.indirect([bytes(4096)] * 4, True, 0)) for _ in range(40)])
        while len(peer.held_reads) < 4:
            peer.turn()
        if says_so:
            peer.logout()
        peer.close()
        eventually("the session is gone", lambda: len(daemon.sessions()) == 1)
        other.write(0, pattern(65536))
        check(other.read(256, 1280) == bytes(1280 * BLOCK), "an unanswered read gave data")


main(test)
