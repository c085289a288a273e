# SPDX-License-Identifier: BSD-2-Clause
"""The echo holds at most MaxRecvDataSegmentLength bytes of the initiator's."""

from protocol import *


def test(daemon):
    peer = daemon.session({"MaxRecvDataSegmentLength": "512"})
    for size in (0, 1, 511, 512, 513, 4096):
        pdu = peer.send(peer.request(NOP_OUT, data=pattern(size), ttt=NONE))
        echo = peer.expect(NOP_IN, itt=pdu.itt, ttt=NONE)
        check(echo.data == pattern(size)[:512], f"echo of {size} bytes is {len(echo.data)}")


main(test)
