# SPDX-License-Identifier: BSD-2-Clause
"""Data that does not fit its digest ends the write with ABORTED COMMAND 47/05, the medium as it
was, and the session continues: for immediate, unsolicited and solicited data."""

from protocol import *


def broken(peer, pdu):
    raw = bytearray(pdu.wire(peer.header_digest, True))
    raw[-1] ^= 0x80
    return bytes(raw)


def test(daemon):
    for header in ("None", "CRC32C"):
        peer = daemon.session({"HeaderDigest": header, "DataDigest": "CRC32C"})
        pdu = peer.write_task(0, 1, data=pattern(512))
        peer.send_bytes(broken(peer, pdu))
        peer.expect_status(pdu.itt, CHECK, (0xb, 0x47, 5))
        pdu = peer.write_task(0, 2, data=pattern(512), final=False)
        peer.send(pdu)
        peer.send_bytes(broken(peer, peer.data_out(pdu, pattern(512), 512)[0]))
        peer.expect_status(pdu.itt, CHECK, (0xb, 0x47, 5))
        pdu = peer.send(peer.write_task(0, 16))
        r2t = peer.expect(R2T, itt=pdu.itt)
        parts = peer.solicited(r2t, pattern(8192), size=4096)
        peer.send_bytes(broken(peer, parts[0]))
        peer.send(parts[1])
        peer.expect_status(pdu.itt, CHECK, (0xb, 0x47, 5))
        peer.write_and_read_back(0, pattern(8192, 3))
        peer.close()
    check(daemon.counter("digest_errors") >= 3, "not counted")


main(test)
