# SPDX-License-Identifier: BSD-2-Clause
"""A data segment above the MaxRecvDataSegmentLength the target declared closes the connection
with its header; the log says why."""

from protocol import *


def test(daemon):
    for opcode in (NOP_OUT, COMMAND, TEXT, DATA_OUT, TMF, LOGOUT, 0x1c):
        peer = daemon.session()
        pdu = peer.request(opcode)
        pdu.bhs[5:8] = (262145).to_bytes(3, "big")
        peer.send_bytes(pdu.bhs)
        peer.expect_closed(f"opcode {opcode}")
    daemon.settle()
    check("262145" in daemon.log(), "the log does not say why")
    check(daemon.counter("connections_closed_protocol_error") >= 7, "not counted")


main(test)
