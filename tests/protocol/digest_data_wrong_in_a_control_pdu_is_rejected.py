# SPDX-License-Identifier: BSD-2-Clause
"""A NOP-Out or Text Request whose data digest is wrong gets Reject 02 and may be sent again with
the same CmdSN."""

from protocol import *


def test(daemon):
    peer = daemon.session({"DataDigest": "CRC32C"})
    for opcode, data in ((NOP_OUT, b"ping"), (TEXT, text({"SendTargets": "All"}))):
        pdu = peer.request(opcode, data=data, ttt=NONE)
        raw = bytearray(pdu.wire(False, True))
        raw[50] ^= 1
        peer.send_bytes(raw)
        reject = peer.expect(REJECT, reason=2)
        check(reject.data[:48] == bytes(pdu.bhs), "another header is rejected")
        peer.send(pdu)
        check(peer.recv().itt == pdu.itt, "the repetition is not answered")


main(test)
