# SPDX-License-Identifier: BSD-2-Clause
"""The data digest covers the pad, the header digest the additional header segments."""

from protocol import *


def test(daemon):
    peer = daemon.session({"HeaderDigest": "CRC32C", "DataDigest": "CRC32C"})
    for size in range(1, 9):
        pdu = peer.send(peer.request(NOP_OUT, data=b"abcdefgh"[:size], ttt=NONE))
        check(peer.expect(NOP_IN, itt=pdu.itt).data == b"abcdefgh"[:size], f"{size} bytes")
    ahs = bytes([0, 17, 1, 0]) + bytes(16)
    pdu = peer.send(peer.task(bytes([0x7f]) + bytes(6) + bytes([24]) + bytes(8), ahs=ahs))
    peer.expect_status(pdu.itt, CHECK)
    inquiry = peer.task(bytes([0x12, 0, 0, 0, 37, 0]), flags=READ, edtl=37)
    _, end = peer.collect(peer.send(inquiry), 37)
    check(end.status == GOOD, "INQUIRY of 37 bytes")


main(test)
