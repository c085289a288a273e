# SPDX-License-Identifier: BSD-2-Clause
"""A CHECK CONDITION brings its sense in the SCSI Response, within the 128 bytes that initiators have
room for, and no RDMA."""

from iser import *


def test(daemon):
    peer = daemon.session(kind=IserPeer)
    pdu = peer.send(peer.task(b"\xff" + bytes(15)))
    peer.expect_status(pdu.itt, CHECK, (5, 0x20, 0))
    pdu = peer.send(peer.read_into(peer.read_task(1 << 30, 8), 4096))
    rsp = peer.expect_status(pdu.itt, CHECK, (5, 0x21, 0))
    check(len(rsp.data) <= 128, f"{len(rsp.data)} bytes")
    check(pdu.region.written == 0, "data came with a failed command")
    check(peer.writes == 0, "an RDMA Write")


main(test)
