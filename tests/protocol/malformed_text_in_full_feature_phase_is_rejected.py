# SPDX-License-Identifier: BSD-2-Clause
"""Pairs without "=", keys too long, the same key twice, bytes that are no text."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    for data in (b"SendTargets", b"=All\0", b"SendTargets\0", b"K" * 70 + b"=1\0",
                 b"SendTargets=All\0" * 200, bytes(range(256)) * 8, b"\0" * 4096):
        peer.send(peer.request(TEXT, data=data, ttt=NONE, immediate=True))
        pdu = peer.recv()
        check(pdu.opcode in (REJECT, TEXT_RSP), f"{data[:16]}: {pdu}")
    peer.texts({"SendTargets": "All"})


main(test)
