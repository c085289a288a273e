# SPDX-License-Identifier: BSD-2-Clause
"""Two nexuses that remove each other at the same time do not wait for each other for ever."""

from removal import *


def test(daemon):
    for turn in range(20):
        pair = [iscsi(daemon, isid=f"80aabb00000{i}") for i in range(2)]
        names = [name_of(peer) for peer in pair]
        daemon.pause()
        for peer, name in zip(pair, reversed(names)):
            data = nexus_list(name)
            peer.send(peer.task(removal(data), len(data), protocol.WRITE, data))
        daemon.resume()
        eventually("one is gone", lambda: len(daemon.sessions()) < 2)
        for peer in pair:
            peer.close()
        iscsi(daemon, isid="80aabb000000").logout()
        iscsi(daemon, isid="80aabb000001").logout()


main(test)
