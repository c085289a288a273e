# SPDX-License-Identifier: BSD-2-Clause
"""Where a part of a table is in the IU and the whole has other descriptors, what is used adds up:
the data goes nowhere but to the memory of one of both."""

from srp import *


def test(daemon):
    peer = daemon.session()
    peer.write(0, pattern(8192))
    for length in (0, 1, 4095, 8192, 0xffffffff):
        data = peer.indirect([b"\xa5" * 4096] * 2, True, 1)
        raw = bytearray(data.descriptors)
        raw[20 + 12:20 + 16] = length.to_bytes(4, "big")
        data.descriptors = bytes(raw)
        iu = peer.send(peer.read_into(data))
        rsp = peer.expect(RSP, tag=iu.tag)
        check(rsp.code == INVALID_FIELDS and data.written == 0 or data.bytes == pattern(8192),
              f"{length}: {rsp}")
    peer.expect_alive()


main(test)
