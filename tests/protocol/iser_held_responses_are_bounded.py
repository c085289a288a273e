# SPDX-License-Identifier: BSD-2-Clause
"""Responses to task management that wait for an RDMA Read in flight are as many as a connection may
have: who sends requests without end, and does not answer the Read, is ended."""

from iser import *


def test(daemon):
    peer = daemon.session(kind=IserPeer)
    peer.send(peer.tmf(ABORT_TASK, peer.held_write()))
    try:
        for _ in range(8):
            peer.send(*[peer.tmf(ABORT_TASK) for _ in range(1024)])
        peer.expect_closed("with 8192 responses held back")
    except ConnectionError:
        pass
    eventually("the session ends", lambda: not daemon.sessions())
    check("responses are waiting for RDMA Reads" in daemon.log(), "no word of the reason")
    daemon.session(kind=IserPeer)


main(test)
