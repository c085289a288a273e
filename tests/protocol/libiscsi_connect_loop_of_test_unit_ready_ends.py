# SPDX-License-Identifier: BSD-2-Clause
"""After login libiscsi sends TEST UNIT READY while it meets unit attentions: few, then GOOD."""

from initiators import Libiscsi
from protocol import *


def test(daemon):
    peer = daemon.connect(Libiscsi)
    peer.login()
    for count in range(10):
        pdu = peer.send(peer.test_unit_ready())
        rsp = peer.expect(RESPONSE, itt=pdu.itt)
        if rsp.status == GOOD:
            break
        check(rsp.sense[0] == 6, f"sense {rsp.sense} is no unit attention")
    check(1 <= count <= 3, f"{count} unit attentions")


main(test)
