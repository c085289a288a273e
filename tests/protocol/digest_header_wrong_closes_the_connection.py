# SPDX-License-Identifier: BSD-2-Clause
"""A PDU whose header digest is wrong cannot be trusted in any byte: the connection ends, nothing
of it is done, and other sessions go on."""

from protocol import *


def test(daemon):
    other = daemon.session(isid=bytes.fromhex("80aabb000002"))
    peer = daemon.session({"HeaderDigest": "CRC32C"})
    check(peer.header_digest and not peer.data_digest, "not agreed upon")
    raw = bytearray(peer.write_task(0, 1, data=pattern(512)).wire(True))
    raw[48] ^= 1
    peer.send_bytes(raw)
    peer.expect_closed("on a wrong header digest")
    check(other.read(0, 1) == bytes(512), "the write was carried out")
    check(daemon.counter("digest_errors") == 1, "not counted")


main(test)
