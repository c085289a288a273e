# SPDX-License-Identifier: BSD-2-Clause
"""Aborted commands get no RSP; their credits come with the next one, or are offered by CRED_REQ,
one at a time."""

from srp import *


def test(daemon):
    peer = daemon.session()
    for turn in range(4):
        peer.holds_reads = True
        held = [peer.write_from(peer.direct(bytes(65536))) for _ in range(peer.granted - 2)]
        peer.send(*held)
        while not peer.held_reads:
            peer.turn()
        tmf = peer.send(peer.task_mgmt(LUN_RESET))
        peer.holds_reads = False
        for iu in held:
            peer.forget(iu)
        peer.serve_reads()
        peer.expect(RSP, tag=tmf.tag)
        peer.ready()
        if peer.limit < peer.granted:
            peer.ready()
        check(peer.limit == peer.granted, f"request limit {peer.limit} of {peer.granted}")


main(test)
