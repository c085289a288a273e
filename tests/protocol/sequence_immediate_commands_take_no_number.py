# SPDX-License-Identifier: BSD-2-Clause
"""An immediate command runs at once, in front of a gap, and neither ExpCmdSN nor the window
moves."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    low, width = peer.exp_cmd_sn, peer.max_cmd_sn - peer.exp_cmd_sn
    for _ in range(10):
        pdu = peer.send(peer.test_unit_ready(immediate=True))
        rsp = peer.expect_status(pdu.itt)
        check(rsp.exp_cmd_sn == low, "ExpCmdSN has moved")
        check(rsp.max_cmd_sn - rsp.exp_cmd_sn == width, "the window has moved")
    bad = peer.test_unit_ready(immediate=True, ahs=bytes([0, 1, 9, 0]))
    for _ in range(10):
        peer.send(bad)
        rsp = peer.expect(REJECT)
    check(rsp.max_cmd_sn - rsp.exp_cmd_sn == width, "rejected ones have widened the window")
    peer.good(peer.test_unit_ready())


main(test)
