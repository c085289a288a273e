# SPDX-License-Identifier: BSD-2-Clause
"""An initiator that sends more IUs than its request limit is closed; others are not."""

from srp import *


def test(daemon):
    other = daemon.session(initiator=OTHER)
    peer = daemon.session()
    peer.holds_reads = True
    peer.send(*[peer.write_from(peer.direct(bytes(512))) for i in range(peer.granted)])
    peer.send(*[peer.test_unit_ready() for _ in range(20)])
    peer.expect_closed("after more than its request limit")
    other.expect_alive()
    eventually("the session is gone", lambda: len(daemon.sessions()) == 1)
    daemon.session()


main(test)
