# SPDX-License-Identifier: BSD-2-Clause
"""TARGET WARM RESET is answered; TARGET COLD RESET is answered and closes the connection."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    pdu = peer.send(peer.tmf(WARM_RESET))
    rsp = peer.expect(TMF_RSP, itt=pdu.itt)
    check(rsp.response in (0, 5), f"warm: {rsp.response}")
    peer.ready()
    pdu = peer.send(peer.tmf(COLD_RESET))
    rsp = peer.expect(TMF_RSP, itt=pdu.itt)
    check(rsp.response in (0, 5), f"cold: {rsp.response}")
    if rsp.response == 0:
        peer.expect_closed("after a cold reset")
    daemon.session()


main(test)
