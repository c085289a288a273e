# SPDX-License-Identifier: BSD-2-Clause
"""After a first IU that is malformed the channel ends; whether the initiator has receive buffers is
not known, so that at most a T_LOGOUT is sent."""

from srp import *


def test(daemon):
    for raw in (b"\xff" * 64, b"", bytes((CMD,)) + bytes(20), bytes((LOGIN_REQ,)) + bytes(63)):
        peer = daemon.connect()
        peer.has_sent = True
        peer.send_bytes(peer.message(raw))
        peer.expect_closed()
    daemon.session()


main(test)
