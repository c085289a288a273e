# SPDX-License-Identifier: BSD-2-Clause
"""CHECK CONDITION has its sense data in the RSP; nothing of the memory of a failed command is
written or read."""

from srp import *


def test(daemon):
    peer = daemon.connect()
    iu = peer.send(peer.test_unit_ready())
    rsp = peer.expect(RSP, tag=iu.tag, status=CHECK)
    check(rsp.sense[0] == 6, f"sense {rsp.sense} instead of a unit attention")
    peer.ready()
    end = 16 * MIB // BLOCK
    iu = peer.send(peer.read_into(peer.direct(b"\xa5" * 4096, True), end - 4))
    rsp = peer.response(iu, CHECK, (5, 0x21, 0))
    check(iu.data_in.written == 0 and rsp.in_residual == 4096, f"{iu.data_in.written} bytes")
    for out in (peer.direct(bytes(4096)), peer.indirect([bytes(4096)], in_iu=0),
                peer.immediate(bytes(4096))):
        peer.response(peer.send(peer.write_from(out, end - 4)), CHECK, (5, 0x21, 0))
    check(peer.reads == 0, "an RDMA Read for a write that failed")
    peer.response(peer.send(peer.command(bytes((0xff,)))), CHECK, (5, 0x20, 0))
    peer.response(peer.send(peer.test_unit_ready(unit=9)), CHECK, (5, 0x25, 0))


main(test)
