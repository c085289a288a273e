# SPDX-License-Identifier: BSD-2-Clause
"""U or O with residual 0 is DID_BAD_TARGET to Linux: neither is set when the lengths agree, and
the difference is told when they do not."""

from initiators import Iscsid
from protocol import *


def residual(peer, pdu, size, flags, count):
    peer.send(pdu)
    data, end = peer.collect(pdu, size)
    check(end.flags & 6 == flags, f"residual flags {end.flags & 6:x}, not {flags:x}")
    check(not flags or end.residual == count, f"residual {end.residual}, not {count}")
    return data


def test(daemon):
    peer = daemon.session(kind=Iscsid)
    peer.write(0, pattern(4096))
    residual(peer, peer.read_task(0, 8), 4096, 0, 0)
    data = residual(peer, peer.read_task(0, 8, edtl=8192), 8192, 2, 4096)
    check(data[:4096] == pattern(4096) and not any(data[4096:]), "wrong data with underflow")
    data = residual(peer, peer.read_task(0, 8, edtl=1024), 1024, 4, 3072)
    check(data == pattern(4096)[:1024], "wrong data with overflow")
    inquiry = peer.task(bytes([0x12, 0, 0, 0, 36, 0]), flags=READ, edtl=255)
    residual(peer, inquiry, 255, 2, 255 - 36)


main(test)
