# SPDX-License-Identifier: BSD-2-Clause
"""QEMU sends READ CAPACITY(16) again when it meets a unit attention; the second one tells the
size."""

from initiators import Libiscsi
from protocol import *


def test(daemon):
    peer = daemon.connect(Libiscsi)
    peer.login()
    for _ in range(4):
        pdu = peer.task(bytes([0x9e, 0x10]) + bytes(11) + bytes([32, 0, 0]), flags=READ, edtl=32)
        data, end = peer.collect(peer.send(pdu), 32)
        if end.status == GOOD:
            break
        check(end.sense[0] == 6, f"sense {end.sense}")
    blocks = int.from_bytes(data[:8], "big") + 1
    check(blocks * int.from_bytes(data[8:12], "big") == 16 * MIB, f"{blocks} blocks")


main(test)
