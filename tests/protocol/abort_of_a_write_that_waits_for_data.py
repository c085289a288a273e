# SPDX-License-Identifier: BSD-2-Clause
"""ABORT TASK of a write whose R2T is open: complete, without a response of the write; its data
is thrown away, its place in the window is free."""

from protocol import *


def test(daemon):
    peer = daemon.session({"InitialR2T": "Yes", "ImmediateData": "No"})
    for late in (True, False):
        pdu = peer.send(peer.write_task(0, 8))
        r2t = peer.expect(R2T, itt=pdu.itt)
        abort = peer.send(peer.tmf(ABORT_TASK, pdu))
        peer.expect(TMF_RSP, itt=abort.itt, response=0)
        if late:
            peer.send(*peer.solicited(r2t, pattern(4096)))
        check(peer.read(0, 8) == bytes(4096), "the aborted write was carried out")
        again = peer.send(peer.tmf(ABORT_TASK, pdu))
        peer.expect(TMF_RSP, itt=again.itt, response=1)
    check(peer.max_cmd_sn - peer.exp_cmd_sn == 63, "the window lacks a place")


main(test)
