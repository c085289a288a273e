# SPDX-License-Identifier: BSD-2-Clause
"""ABORT TASK of a command that is not in flight, or of another LUN, has nothing to do; functions
that the target does not have are unsupported; a LUN that is not there fails."""

from srp import *


def test(daemon):
    peer = daemon.session()
    done = peer.send(peer.test_unit_ready())
    peer.response(done)
    peer.manage(ABORT_TASK, done)
    for function in (0, 3, 0x10, 0x20, 0x80, 0xff):
        peer.manage(function, None, TMF_UNSUPPORTED)
    peer.manage(LUN_RESET, None, TMF_FAILED, unit=9)
    iu = peer.held_write()
    peer.manage(ABORT_TASK, iu, unit=1)
    peer.holds_reads = False
    peer.serve_reads()
    peer.response(iu)


main(test, luns=2)
