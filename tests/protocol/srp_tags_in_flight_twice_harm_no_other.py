# SPDX-License-Identifier: BSD-2-Clause
"""A tag that is in flight already is the initiator's error: whatever becomes of its commands, the
daemon goes on, others are served, and each RSP is of one that was sent."""

from srp import *


def test(daemon):
    other = daemon.session(initiator=OTHER)
    for _ in range(3):
        peer = daemon.session()
        first = peer.held_write()
        peer.send_bytes(peer.message(bytes(peer.write_from(peer.direct(bytes(512)), 500,
                                                           tag=first.tag).raw)))
        peer.limit -= 1
        peer.holds_reads = False
        try:
            peer.serve_reads()
            peer.send(peer.task_mgmt(ABORT_TASK, first))
            for _ in range(3):
                peer.sent[first.tag] = first
                peer.recv()
        except (Closed, ConnectionError):
            pass
        peer.close()
        other.expect_alive()
    eventually("the sessions are gone", lambda: len(daemon.sessions()) == 1)


main(test)
