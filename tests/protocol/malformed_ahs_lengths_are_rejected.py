# SPDX-License-Identifier: BSD-2-Clause
"""Additional header segments whose lengths contradict each other or the header, of unknown type,
twice, or where none belong: Reject, nothing read past the header, the session continues."""

from protocol import *


CASES = [bytes(4), bytes([0, 0, 1, 0]), bytes([0xff, 0xff, 1, 0]), bytes([0, 5, 1, 0]),
         bytes([0, 4, 2, 0]) + bytes(4), bytes([0, 5, 2, 0]) + bytes(8),
         bytes([0, 1, 3, 0]), bytes([0, 1, 0x3f, 0]), bytes([0, 2, 1, 0]) * 2,
         bytes([3, 0, 1, 0]) + bytes(1016)]


def test(daemon):
    peer = daemon.session()
    for ahs in CASES:
        peer.send(peer.test_unit_ready(ahs=ahs))
        pdu = peer.recv()
        check(pdu.opcode in (REJECT, RESPONSE), f"{ahs[:8].hex()}: {pdu}")
        peer.cmd_sn = peer.exp_cmd_sn  # what is rejected counts as not received
        peer.good(peer.test_unit_ready())
    for opcode in (NOP_OUT, TMF, TEXT, LOGOUT, DATA_OUT):
        fields = {} if opcode == DATA_OUT else {"cmd_sn": peer.cmd_sn}
        peer.send(peer.request(opcode, ahs=bytes([0, 1, 1, 0]), ttt=NONE, **fields))
        peer.expect(REJECT, f"an AHS in opcode {opcode}")
    peer.good(peer.test_unit_ready())


main(test)
