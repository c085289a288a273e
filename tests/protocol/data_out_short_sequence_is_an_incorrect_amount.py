# SPDX-License-Identifier: BSD-2-Clause
"""F before an R2T is satisfied: ABORTED COMMAND 0C/0D."""

from protocol import *


def test(daemon):
    peer = daemon.session({"InitialR2T": "Yes", "ImmediateData": "No"})
    for short in (512, 1024, 3584):
        pdu = peer.send(peer.write_task(0, 8))
        r2t = peer.expect(R2T, itt=pdu.itt, desired=4096)
        peer.send(*peer.data_out(pdu, pattern(short), 0, r2t.ttt))
        peer.expect_status(pdu.itt, CHECK, (0xb, 0xc, 0xd))
    check(peer.read(0, 8) == bytes(4096), "the medium has changed")


main(test)
