# SPDX-License-Identifier: BSD-2-Clause
"""An EDTL below what the CDB wants bounds every RDMA request (one byte more would end the
connection), above it the rest is left alone; the residual says which."""

from iser import *


def test(daemon):
    peer = daemon.session(kind=IserPeer)
    data = pattern(8 * BLOCK)
    peer.write(0, data)
    pdu = peer.send(peer.read_into(peer.read_task(0, 8, edtl=700), 700))
    rsp = peer.expect(RESPONSE, itt=pdu.itt)
    check(rsp.flags & 4 and rsp.residual == 8 * BLOCK - 700, f"{rsp}")
    check(bytes(pdu.region.data) == data[:700], "what was read differs")
    pdu = peer.send(peer.read_into(peer.read_task(0, 1, edtl=4096), 4096))
    rsp = peer.expect(RESPONSE, itt=pdu.itt)
    check(rsp.flags & 2 and rsp.residual == 4096 - BLOCK, f"{rsp}")
    check(pdu.region.written == BLOCK, f"{pdu.region.written} bytes were written")
    pdu = peer.write_from(peer.write_task(64, 8, edtl=BLOCK), data[:BLOCK])
    peer.send(pdu)
    check(peer.expect(RESPONSE, itt=pdu.itt).flags & 4, "no overflow")
    pdu = peer.write_from(peer.write_task(64, 1, edtl=4096), data)
    peer.send(pdu)
    check(peer.expect(RESPONSE, itt=pdu.itt).flags & 2, "no underflow")
    pdu = peer.send(peer.read_task(0, 1, edtl=0))
    rsp = peer.expect(RESPONSE, itt=pdu.itt)
    check(rsp.flags & 4 and rsp.residual == BLOCK, f"{rsp}")


main(test)
