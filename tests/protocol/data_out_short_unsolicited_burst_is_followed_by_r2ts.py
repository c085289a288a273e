# SPDX-License-Identifier: BSD-2-Clause
"""An initiator that ends its unsolicited burst early is asked for the rest."""

from protocol import *


def test(daemon):
    peer = daemon.session({"FirstBurstLength": "65536"})
    data = pattern(8192)
    pdu = peer.write_task(0, 16, data=data[:512], final=False)
    peer.send(pdu, *peer.data_out(pdu, data[512:1536], 512))
    r2t = peer.expect(R2T, itt=pdu.itt, offset=1536, desired=8192 - 1536)
    peer.send(*peer.solicited(r2t, data))
    peer.expect_status(pdu.itt)
    check(peer.read(0, 16) == data, "read back differs")


main(test)
