# SPDX-License-Identifier: BSD-2-Clause
"""default_cmdsn_depth=1: one command after the other."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    check(peer.max_cmd_sn == peer.exp_cmd_sn, "the window is not 1")
    for _ in range(3):
        peer.write_and_read_back(0, pattern(65536))
    echo = peer.send(peer.request(NOP_OUT, ttt=NONE))
    peer.expect(NOP_IN, itt=echo.itt)
    peer.good(peer.test_unit_ready())


main(test, attributes={"default_cmdsn_depth": 1})
