# SPDX-License-Identifier: BSD-2-Clause
"""A write that has failed and whose unsolicited data is still owed ends with every function that
ends the tasks of its logical unit, and what comes late is thrown away. One on another LUN and one
of another session get their status when their data is there."""

from protocol import *

FUNCTIONS = (ABORT_TASK_SET, CLEAR_TASK_SET, LU_RESET, WARM_RESET)


def failing(peer, number=0):
    """A write past the end whose data has not been sent."""
    return peer.send(peer.write_task(0x7ffffff0, 16, final=False, lun=lun(number)))


def finish(peer, pdu, size=8192):
    peer.send(*peer.data_out(pdu, pattern(size), 0))
    peer.expect_status(pdu.itt, CHECK)


def test(daemon):
    other = daemon.session(isid=bytes.fromhex("80aabb000002"))
    other.lun = lun(1)
    other.ready()
    for function in FUNCTIONS:
        peer = daemon.session()
        theirs, elsewhere, failed = failing(other), failing(peer, 1), failing(peer)
        reset = peer.send(peer.tmf(function))
        peer.expect(TMF_RSP, itt=reset.itt, response=0)
        peer.send(*peer.data_out(failed, pattern(8192), 0))  # late
        if function == WARM_RESET:
            peer.send(*peer.data_out(elsewhere, pattern(8192), 0))
        else:
            finish(peer, elsewhere)
        peer.ready()
        eventually("nothing is left in flight", lambda: all(
            s["commands_in_flight"] == 0 for s in daemon.sessions()
            if s["isid"] == peer.isid.hex()))
        check(peer.max_cmd_sn - peer.exp_cmd_sn == 63, "the window lacks a place")
        finish(other, theirs)
        other.lun = lun(0)
        other.ready()
        other.lun = lun(1)
        other.ready()
        peer.logout()
    # Nothing ends where there is nothing: the status comes.
    peer = daemon.session()
    missing = failing(peer, 7)
    reset = peer.send(peer.tmf(LU_RESET, lun=lun(7)))
    peer.expect(TMF_RSP, itt=reset.itt, response=2)
    finish(peer, missing)


main(test, luns=2)
