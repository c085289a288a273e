# SPDX-License-Identifier: BSD-2-Clause
"""A NOP-Out that wants no answer and is not immediate is a protocol error (RFC 7143 11.18)."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    peer.send(peer.request(NOP_OUT, itt=NONE, ttt=NONE, cmd_sn=peer.cmd_sn))
    peer.expect(REJECT, reason=4)
    peer.send(peer.request(NOP_OUT, immediate=True, itt=NONE, ttt=NONE))
    peer.good(peer.test_unit_ready())


main(test)
