# SPDX-License-Identifier: BSD-2-Clause
"""Immediate, unsolicited and solicited data past EDTL or past the R2T goes nowhere."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    peer.write(0, pattern(8192))
    # Immediate data of 2 blocks for an EDTL of 1.
    pdu = peer.send(peer.write_task(0, 1, data=bytes(1024)))
    peer.expect_status(pdu.itt, CHECK)
    # Unsolicited data past EDTL.
    pdu = peer.write_task(0, 2, data=bytes(512), final=False)
    peer.send(pdu, *peer.data_out(pdu, bytes(4096), 512))
    peer.expect_status(pdu.itt, CHECK)
    check(peer.read(2, 14) == pattern(8192)[1024:], "blocks beyond the write have changed")
    # More than an R2T asks for.
    peer = daemon.session({"InitialR2T": "Yes", "ImmediateData": "No", "MaxBurstLength": "512"})
    pdu = peer.send(peer.write_task(0, 2))
    r2t = peer.expect(R2T, itt=pdu.itt, desired=512)
    peer.send(*peer.data_out(pdu, bytes(1024), 0, r2t.ttt))
    peer.expect_status(pdu.itt, CHECK, (0xb, 0xc, 0xd))
    peer.good(peer.test_unit_ready())


main(test)
