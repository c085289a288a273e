# SPDX-License-Identifier: BSD-2-Clause
"""1,000 sessions log in over software iWARP and stand side by side: each moves data by RDMA, and one
more is let in when all of them have ended."""

from iser import *

SESSIONS = 1000


def test(daemon):
    peers = [daemon.session(kind=IserPeer, isid=b"\x80" + i.to_bytes(5, "big"))
             for i in range(SESSIONS)]
    found = daemon.rpc("session.list")
    check(len(found) == SESSIONS, f"{len(found)} sessions")
    check(all(s["transport"] == "iSER" for s in found), "not all of them over iSER")
    for i, peer in enumerate(peers):
        peer.write(8 * i, pattern(4096, i))
    for i, peer in enumerate(peers):
        check(peer.read(8 * i, 8) == pattern(4096, i), f"session {i} reads another's data")
    for peer in peers:
        peer.close()
    farblock.eventually("all sessions end", lambda: not daemon.rpc("session.list"))
    daemon.session(kind=IserPeer).ready()


main(test)
