# SPDX-License-Identifier: BSD-2-Clause
"""A command with the tag of one that is under way, on whichever channel of the nexus, ends the
channel it came by. A tag whose RSP has been received may be used again at once."""

from srp import *


def test(daemon):
    first, second = daemon.session(flags=MULTI), daemon.session(flags=MULTI)
    other = daemon.session(initiator=OTHER)
    for _ in range(200):
        first.response(first.send(first.read_into(first.direct(bytes(512), True), tag=7)))
    held = first.held_write()
    other.response(other.send(other.test_unit_ready(tag=held.tag)))
    for peer in (second, first):
        peer.send_bytes(peer.message(bytes(peer.test_unit_ready(tag=held.tag).raw)))
        reason = peer.expect_closed("after a tag in flight")
        check(reason == INVALID_IU, f"T_LOGOUT {reason}")
    other.expect_alive()
    eventually("the session is gone", lambda: len(daemon.sessions()) == 1)


main(test)
