# SPDX-License-Identifier: BSD-2-Clause
"""Unsolicited data where InitialR2T=Yes, or immediate data where ImmediateData=No, ends with
0C/0C."""

from protocol import *


def test(daemon):
    peer = daemon.session({"InitialR2T": "Yes", "ImmediateData": "No"})
    pdu = peer.send(peer.write_task(0, 1, data=pattern(512)))
    peer.expect_status(pdu.itt, CHECK, (0xb, 0xc, 0xc))
    pdu = peer.write_task(0, 1, final=False)
    peer.send(pdu, *peer.data_out(pdu, pattern(512), 0))
    peer.expect_status(pdu.itt, CHECK, (0xb, 0xc, 0xc))
    check(peer.read(0, 1) == bytes(512), "the medium has changed")
    peer.write(0, pattern(512))


main(test)
