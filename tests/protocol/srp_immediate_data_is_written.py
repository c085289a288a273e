# SPDX-License-Identifier: BSD-2-Clause
"""Immediate data is written without an RDMA Read, from any offset that was agreed on, behind an
additional CDB too, and up to the length of an IU."""

from srp import *


def test(daemon):
    for offset, sizes in ((68, (512, 4096, 8192)), (52, (512, 7680)), (80, (512, 8192))):
        peer = daemon.session(login={"imm_offset": offset, "it_iu_len": 8448})
        for size in sizes:
            data = pattern(size, size + offset)
            peer.response(peer.send(peer.write_from(peer.immediate(data))))
            check(peer.reads == 0, "an RDMA Read of immediate data")
            check(peer.read(0, size // BLOCK) == data, f"{size} at {offset}: read back differs")
        peer.logout()
    peer = daemon.session()
    peer.send(*[peer.write_from(peer.immediate(pattern(4096, i)), 8 * i) for i in range(60)])
    for _ in range(60):
        check(peer.expect(RSP).status == GOOD, "a write of many at once failed")
    for i in range(60):
        check(peer.read(8 * i, 8) == pattern(4096, i), "many at once: read back differs")


main(test)
