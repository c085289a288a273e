# SPDX-License-Identifier: BSD-2-Clause
"""A table whose lengths do not fit together is refused with code 2 for its command alone: nothing
is read or written, other commands continue."""

from srp import *

AT = 48  # of the first descriptor in the IU


def set32(iu, at, value):
    iu.raw[at:at + 4] = value.to_bytes(4, "big")


def test(daemon):
    peer = daemon.session()
    held = peer.held_write()
    reads = peer.reads
    for at, value in ((AT + 12, 31), (AT + 12, 33), (AT + 12, 16), (AT + 12, 0),
                      (AT + 12, 4097 * 16), (AT + 12, 0xfffffff0), (AT + 12, 0xffffffff),
                      (AT + 16, 0), (AT + 16, 8191), (AT + 16, 8193), (AT + 16, 0xffffffff),
                      (AT + 20 + 12, 0xffffffff), (AT + 20 + 12, 0), (AT + 36 + 12, 0x80001000)):
        for iu in (peer.write_from(peer.indirect([bytes(4096)] * 2)),
                   peer.read_into(peer.room([4096] * 2))):
            set32(iu, at, value)
            peer.refused(iu, f"{value:#x} at {at}")
            check(not iu.data_in.regions or iu.data_in.written == 0, "data of a refused command")
    iu = peer.write_from(peer.indirect([bytes(4096)] * 2))
    set32(iu, AT + 32, 0x80001000)
    set32(iu, AT + 48, 0x80001000)  # 0x2000 in 32 bits
    peer.refused(iu, "a sum beyond 32 bits")
    check(peer.reads == reads, "an RDMA Read for a refused command")
    peer.holds_reads = False
    peer.serve_reads()
    peer.response(held)


main(test)
