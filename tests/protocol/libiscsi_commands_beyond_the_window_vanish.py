# SPDX-License-Identifier: BSD-2-Clause
"""iscsi-test-cu sends a CmdSN below, above and far above the window: dropped without a word."""

from initiators import Libiscsi
from protocol import *


def test(daemon):
    peer = daemon.session(kind=Libiscsi)
    for sn in (peer.max_cmd_sn + 1, peer.cmd_sn - 1, peer.cmd_sn + 0x7fffffff):
        peer.send(peer.test_unit_ready(cmd_sn=sn & NONE))
    echo = peer.ping()
    check(echo.exp_cmd_sn == peer.cmd_sn, "ExpCmdSN is not the ping's successor")
    peer.good(peer.test_unit_ready())


main(test)
