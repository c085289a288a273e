# SPDX-License-Identifier: BSD-2-Clause
"""QEMU does not open a disk when page 00 or an advertised B0, B2 or 83 fails."""

from initiators import Libiscsi
from protocol import *


def page(peer, code):
    cdb = bytes([0x12, 1, code, 1, 0, 0])
    pdu = peer.send(peer.task(cdb, flags=READ, edtl=256))
    data, end = peer.collect(pdu, 256)
    check(end.status == GOOD, f"page {code:02x}: status {end.status}")
    return data


def test(daemon):
    peer = daemon.session(kind=Libiscsi)
    listed = page(peer, 0)
    codes = listed[4:4 + int.from_bytes(listed[2:4], "big")]
    check({0, 0x83, 0xb0, 0xb2} <= set(codes), f"pages {codes.hex()}")
    check(list(codes) == sorted(codes), "the pages are not in order")
    for code in codes:
        check(page(peer, code)[1] == code, f"page {code:02x} is another one")


main(test)
