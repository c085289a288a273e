# SPDX-License-Identifier: BSD-2-Clause
"""Thousands of pings without reading: receiving stops and continues, none is lost."""

import select
import socket

from protocol import *


def test(daemon):
    peer = daemon.session()
    raw = peer.request(NOP_OUT, immediate=True, ttt=NONE).wire()
    peer.socket.setblocking(False)
    sent, total = 0, raw * 200000
    while sent < len(total):
        _, writable, _ = select.select([], [peer.socket], [], 0.3)
        if not writable:
            break
        sent += peer.socket.send(total[sent:sent + (1 << 20)])
    check(sent < len(total), "the target never stopped receiving")
    peer.socket.setblocking(True)
    need, have = sent // 48 * 48, 0
    while have < need:
        got = peer.socket.recv(1 << 20)
        check(got, f"closed after {have // 48} of {need // 48} answers")
        have += len(got)


main(test)
