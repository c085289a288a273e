# SPDX-License-Identifier: BSD-2-Clause
"""Immediate data whose length or offset leaves the IU is refused with code 2, and nothing is
written."""

from srp import *


def spoil(iu, length=None, size=None):
    if length is not None:
        iu.raw[48:52] = length.to_bytes(4, "big")
    if size is not None:
        del iu.raw[size:]
    return iu


def test(daemon):
    peer = daemon.session()
    peer.write(0, pattern(4096))

    def write():
        return peer.write_from(peer.immediate(bytes(4096)))

    for length in (4097, 8192, 8193, 65536, 0x7fffffff, 0xffffffff - 67, 0xffffffff):
        peer.refused(spoil(write(), length), f"length {length}")
    for size in (52, 60, 67, 68, 69, 68 + 4095):
        peer.refused(spoil(write(), size=size), f"an IU of {size} bytes")
    check(peer.read(0, 8) == pattern(4096), "a refused write was carried out")
    peer.logout()
    peer = daemon.session(login={"imm_offset": 52})
    iu = write()
    iu.raw[48:48] = bytes(8)  # the descriptor moves behind the offset
    iu.put("add_cdb_len", 8)
    peer.refused(iu, "an offset before the descriptors")
    peer.expect_alive()


main(test)
