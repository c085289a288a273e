# SPDX-License-Identifier: BSD-2-Clause
"""The same initiator and ISID again, over iSER or over TCP, under load: the older session ends, RDMA in
flight and all, and the new one works."""

from iser import *


def test(daemon):
    for kind in (IserPeer, Peer, IserPeer):
        old = daemon.session(kind=IserPeer)
        old.holds_reads = True
        old.send(*[old.write_from(old.write_task(i * 8, 8), pattern(4096, i)) for i in range(8)])
        while not old.held_reads:
            old.turn()
        new = daemon.session(kind=kind)
        try:
            while True:
                check(old.turn() is None, "an answer to an older session")
        except Closed:
            pass
        new.write_and_read_back(0, pattern(8192, 2))
        check(len(daemon.sessions()) == 1, f"{len(daemon.sessions())} sessions")


main(test)
