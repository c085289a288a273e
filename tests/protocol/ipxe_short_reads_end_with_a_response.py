# SPDX-License-Identifier: BSD-2-Clause
"""Data-In with status must end at the buffer's end for iPXE: a short transfer ends with a SCSI
Response and its residual."""

from initiators import Ipxe
from protocol import *


def test(daemon):
    peer = daemon.session(kind=Ipxe)
    pdu = peer.task(bytes([0x12, 0, 0, 0, 96, 0]), flags=READ, edtl=1024)
    data, end = peer.collect(peer.send(pdu), 1024)
    check(end.opcode == RESPONSE, "status came in a Data-In that is short")
    check(end.flags & 2 and end.residual > 0, "no underflow is told")
    pdu = peer.send(peer.read_task(0, 16))
    got = peer.expect(DATA_IN, itt=pdu.itt)
    check(got.offset + len(got.data) == 8192 and got.flags & 1, "not one Data-In with status")


main(test)
