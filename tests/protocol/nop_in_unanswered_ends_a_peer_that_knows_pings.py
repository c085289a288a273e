# SPDX-License-Identifier: BSD-2-Clause
"""An initiator that has pinged itself and falls silent is closed after nopin_response_timeout."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    pdu = peer.send(peer.request(NOP_OUT, immediate=True, ttt=NONE))
    peer.expect(NOP_IN, itt=pdu.itt)
    ping = peer.expect(NOP_IN, itt=NONE)
    check(ping.ttt != NONE, "no ping")
    peer.expect_closed("when a ping stays unanswered")
    daemon.settle()
    check("NOP-In" in daemon.log(), "the log does not say why")


main(test, attributes={"nopin_timeout": 3, "nopin_response_timeout": 3})
