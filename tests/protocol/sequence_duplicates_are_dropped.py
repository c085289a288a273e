# SPDX-License-Identifier: BSD-2-Clause
"""A CmdSN that was received already is dropped: below ExpCmdSN, or waiting for its turn."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    done = peer.write_task(0, 1, data=pattern(512))
    peer.good(done)
    peer.send(peer.write_task(0, 1, data=pattern(512, 2), cmd_sn=done.cmd_sn))
    first, second = peer.test_unit_ready(), peer.write_task(1, 1, data=pattern(512, 3))
    peer.send(second)
    peer.send(peer.write_task(1, 1, data=pattern(512, 4), cmd_sn=second.cmd_sn))
    peer.send(peer.request(NOP_OUT, ttt=NONE, cmd_sn=second.cmd_sn))
    peer.send(first)
    peer.expect_status(first.itt)
    peer.expect_status(second.itt)
    check(peer.read(0, 2) == pattern(512) + pattern(512, 3), "a duplicate was carried out")


main(test)
