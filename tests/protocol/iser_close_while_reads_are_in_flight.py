# SPDX-License-Identifier: BSD-2-Clause
"""A connection that ends while many RDMA Reads are in flight and writes wait for their turn takes
nothing with it: buffers come back, the next session works."""

from iser import *


def in_use(daemon):
    return sum(w["pool_bytes_in_use"] for w in daemon.rpc("stats.get")["workers"])


def test(daemon):
    for _ in range(5):
        peer = daemon.session(kind=IserPeer)
        peer.holds_reads = True
        tasks = [peer.write_from(peer.write_task(i * 256, 256, data=pattern(4096)),
                                 pattern(131072), 4096) for i in range(32)]
        peer.send(*tasks)
        while len(peer.held_reads) < 16:
            peer.turn()
        peer.close()
    eventually("sessions are gone", lambda: not daemon.sessions())
    peer = daemon.session(kind=IserPeer)
    peer.write_and_read_back(0, pattern(131072, 9))


main(test)
