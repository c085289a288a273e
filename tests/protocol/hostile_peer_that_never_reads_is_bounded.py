# SPDX-License-Identifier: BSD-2-Clause
"""An initiator that sends pings with 200 KiB and large reads, and reads nothing, is held back:
the daemon's memory stays bounded and others are served. When it reads again, all is answered."""

import select
import socket

from protocol import *


def test(daemon):
    other = daemon.session(isid=bytes.fromhex("80aabb000002"))
    peer = daemon.session()
    memory = daemon.memory()
    peer.socket.setblocking(False)
    raw = peer.request(NOP_OUT, immediate=True, ttt=NONE, data=bytes(200 * 1024)).wire()
    sent, left = 0, b""
    while sent < 400 * len(raw):
        left = left or raw
        _, writable, _ = select.select([], [peer.socket], [], 0.3)
        if not writable:
            break
        done = peer.socket.send(left)
        left, sent = left[done:], sent + done
    check(sent < 400 * len(raw), "the target took 80 MB without an answer being read")
    other.write(0, pattern(65536))
    grown = daemon.memory() - memory
    check(grown < 48 * MIB, f"{grown >> 20} MiB kept for a peer that does not read")
    count = sent // len(raw)
    for _ in range(count):
        peer.expect(NOP_IN)
    other.good(other.test_unit_ready())


main(test)
