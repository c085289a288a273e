# SPDX-License-Identifier: BSD-2-Clause
"""An IU longer than LOGIN_RSP permits ends the channel, however small it was agreed to be; others
continue."""

from srp import *


def test(daemon):
    other = daemon.session(initiator=OTHER)
    for length in (64, 8260, 8448):
        for more in (1, 100, 60000):
            peer = daemon.session(login={"it_iu_len": length}, segment=32768)
            limit = peer.accepted.max_it_iu_len
            iu = peer.test_unit_ready()
            iu.raw += bytes(limit - len(iu.raw))
            peer.response(peer.send(iu))
            iu = peer.test_unit_ready()
            iu.raw += bytes(limit + more - len(iu.raw))
            peer.send_bytes(peer.message(bytes(iu.raw)))
            peer.expect_closed(f"after {limit} + {more} bytes")
    other.expect_alive()


main(test)
