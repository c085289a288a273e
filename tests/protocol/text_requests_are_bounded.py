# SPDX-License-Identifier: BSD-2-Clause
"""A text without an end closes the connection, whatever its content."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    itt, ttt = peer.next_itt(), NONE
    try:
        for _ in range(100):
            peer.send(peer.request(TEXT, 0x40, data=b"a" * 4096, itt=itt, ttt=ttt))
            pdu = peer.recv()
            check(pdu.opcode in (TEXT_RSP, REJECT), f"{pdu}")
            if pdu.opcode == REJECT:
                return
            ttt = pdu.ttt
    except (Closed, ConnectionError):
        return
    check(False, "400 KB of text were taken")


main(test)
