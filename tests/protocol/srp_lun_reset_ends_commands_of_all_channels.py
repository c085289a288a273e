# SPDX-License-Identifier: BSD-2-Clause
"""LUN RESET ends the commands of all channels of its nexus, which get no RSP, and those of other
initiators, which get TASK ABORTED; each nexus gets one unit attention."""

from srp import *


def test(daemon):
    channels = [daemon.session(flags=MULTI) for _ in range(3)]
    other = daemon.session(initiator=OTHER)
    held = [peer.held_write() for peer in (*channels[:2], other)]
    tmf = channels[2].send(channels[2].task_mgmt(LUN_RESET))
    for peer, iu in zip((*channels[:2], other), held):
        if peer != other:
            peer.forget(iu)
        peer.holds_reads = False
        peer.serve_reads()
    check(channels[2].expect(RSP, tag=tmf.tag).code == COMPLETE, "code")
    channels[0].ready()
    for peer in channels[1:]:
        peer.expect_alive("(the nexus has had its unit attention)")
    other.response(held[2], TASK_ABORTED)
    iu = other.send(other.test_unit_ready())
    other.response(iu, CHECK, (6, 0x29, 3))
    other.expect_alive()


main(test, cpus=(0, 1))
