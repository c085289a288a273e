# SPDX-License-Identifier: BSD-2-Clause
"""Writes in every state (R2T open, half of the data sent, held for a gap) end with the reset,
which is answered; the session continues with a unit attention."""

from protocol import *


def test(daemon):
    peer = daemon.session({"MaxBurstLength": "4096", "FirstBurstLength": "512",
                           "MaxOutstandingR2T": "8"})
    writes = [peer.write_task(n * 64, 64, data=bytes(512)) for n in range(8)]
    peer.send(*writes)
    r2ts = [peer.expect(R2T) for _ in range(64)]
    peer.send(*peer.solicited(r2ts[0], pattern(65536), size=1024)[:2])
    reset = peer.send(peer.tmf(LU_RESET))
    peer.expect(TMF_RSP, "a response of an aborted task", itt=reset.itt, response=0)
    for r2t in r2ts[:16]:
        peer.send(*peer.solicited(r2t, pattern(65536)))
    pdu = peer.send(peer.test_unit_ready())
    rsp = peer.expect_status(pdu.itt, CHECK)
    check(rsp.sense[:2] == (6, 0x29), f"sense {rsp.sense}")
    peer.ready()
    check(peer.max_cmd_sn - peer.exp_cmd_sn == 63, "the window lacks places")
    peer.write_and_read_back(0, pattern(65536))


main(test)
