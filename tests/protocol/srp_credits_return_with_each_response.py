# SPDX-License-Identifier: BSD-2-Clause
"""A whole request limit of commands is taken at once, and all of it comes back; for each channel by
itself."""

from srp import *


def test(daemon):
    peers = [daemon.session(flags=MULTI) for _ in range(2)]
    for turn in range(20):
        for peer in peers:
            check(peer.limit == peer.granted, f"request limit {peer.limit} of {peer.granted}")
            peer.send(*[peer.read_into(peer.direct(bytes(4096), True), 8 * i) if i % 3 else
                        peer.test_unit_ready() for i in range(peer.granted)])
            check(peer.limit == 0, "the request limit of the test")
        for peer in peers:
            while peer.sent:
                check(peer.expect(RSP).status == GOOD, "status")


main(test)
