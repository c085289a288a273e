# SPDX-License-Identifier: BSD-2-Clause
"""Linux stops answering R2Ts once it has sent a LOGICAL UNIT RESET; the reset ends all the same,
and what comes late is ignored."""

from initiators import Iscsid
from protocol import *


def test(daemon):
    peer = daemon.session({"InitialR2T": "Yes", "ImmediateData": "No"}, Iscsid)
    peer.write(0, pattern(8192))
    writes = [peer.write_task(0, 16) for _ in range(8)]
    peer.send(*writes)
    r2ts = [peer.expect(R2T, itt=w.itt) for w in writes]
    reset = peer.send(peer.tmf(LU_RESET))
    peer.expect(TMF_RSP, itt=reset.itt, response=0)
    peer.send(*peer.solicited(r2ts[0], pattern(8192, 7)))
    pdu = peer.send(peer.test_unit_ready())
    peer.expect_status(pdu.itt, CHECK)
    check(peer.ready().read(0, 16) == pattern(8192), "an aborted write has changed the medium")
    peer.write(0, pattern(8192, 9))


main(test)
