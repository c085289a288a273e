# SPDX-License-Identifier: BSD-2-Clause
"""ABORT TASK of a command that waits for its turn: complete, and its number counts."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    first, second, third = (peer.test_unit_ready(), peer.write_task(0, 1, data=pattern(512)),
                            peer.test_unit_ready())
    peer.send(second, third)
    abort = peer.send(peer.tmf(ABORT_TASK, second))
    peer.expect(TMF_RSP, itt=abort.itt, response=0)
    peer.send(first)
    peer.expect_status(first.itt)
    peer.expect_status(third.itt)
    check(peer.read(0, 1) == bytes(512), "the aborted write was carried out")


main(test)
