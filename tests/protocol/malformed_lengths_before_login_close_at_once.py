# SPDX-License-Identifier: BSD-2-Clause
"""DataSegmentLength above 8192, or an AHS, before login: the connection ends with the header,
nothing is waited for and nothing kept."""

from protocol import *


def test(daemon):
    before = daemon.memory()
    for length, ahs in ((8193, 0), (65536, 0), (0xffffff, 0), (0, 255), (100, 1)):
        for _ in range(10):
            peer = daemon.connect()
            pdu = peer.login_pdu({})
            pdu.bhs[5:8], pdu.bhs[4] = length.to_bytes(3, "big"), ahs
            peer.send_bytes(bytes(pdu.bhs) + (bytes(4 * ahs + length) if ahs else b""))
            try:
                check(peer.recv().login_status >> 8 == 2, "let in")
            except Closed:
                pass
            peer.close()
    check(daemon.memory() - before < 8 * MIB, f"{daemon.memory() - before} bytes more")
    daemon.session()


main(test)
