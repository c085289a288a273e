# SPDX-License-Identifier: BSD-2-Clause
"""A Reject's data is the 48 bytes of the PDU, so that libiscsi finds the tag at offset 16."""

from initiators import Libiscsi
from protocol import *


def test(daemon):
    peer = daemon.session(kind=Libiscsi)
    pdu = peer.send(peer.request(SNACK, F | 1))
    reject = peer.expect(REJECT, itt=NONE, reason=3)
    check(reject.data == bytes(pdu.bhs), "it is not the header that was sent")
    pdu = peer.send(peer.request(0x1c, cmd_sn=peer.cmd_sn))
    reject = peer.expect(REJECT, itt=NONE, reason=5)
    check(reject.data[16:20] == pdu.bhs[16:20], "the tag is not at offset 16")
    peer.good(peer.test_unit_ready())


main(test)
