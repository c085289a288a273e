# SPDX-License-Identifier: BSD-2-Clause
"""The task must be on the LUN the request names."""

from protocol import *


def test(daemon):
    peer = daemon.session({"InitialR2T": "Yes", "ImmediateData": "No"})
    pdu = peer.send(peer.write_task(0, 1))
    r2t = peer.expect(R2T, itt=pdu.itt)
    abort = peer.send(peer.tmf(ABORT_TASK, pdu, lun=lun(1)))
    peer.expect(TMF_RSP, itt=abort.itt, response=1)
    peer.send(*peer.solicited(r2t, pattern(512)))
    peer.expect_status(pdu.itt)


main(test, luns=2)
