# SPDX-License-Identifier: BSD-2-Clause
"""With CRC32C agreed upon, the first PDU after the last Login Response has digests, both ways,
and the login itself has none."""

from initiators import Iscsid
from protocol import *


def test(daemon):
    peer = daemon.session({"HeaderDigest": "CRC32C", "DataDigest": "CRC32C"}, Iscsid)
    check(peer.header_digest and peer.data_digest, f"not agreed upon: {peer.agreed}")
    peer.write_and_read_back(3, pattern(20 * 512))
    pdu = peer.send(peer.request(NOP_OUT, data=b"odd", ttt=NONE))
    check(peer.expect(NOP_IN, itt=pdu.itt).data == b"odd", "the echo differs")
    peer.logout()


main(test)
