# SPDX-License-Identifier: BSD-2-Clause
"""The kernel's NOP-Out is immediate and empty; its NOP-In has the tag, no target tag and no
data."""

from initiators import Iscsid
from protocol import *


def test(daemon):
    peer = daemon.session(kind=Iscsid)
    before = peer.exp_cmd_sn
    ping = peer.send(peer.request(NOP_OUT, immediate=True, ttt=NONE))
    echo = peer.expect(NOP_IN, itt=ping.itt, ttt=NONE)
    check(not echo.data, "data in the echo of an empty ping")
    check(echo.exp_cmd_sn == before, "an immediate ping has taken a CmdSN")


main(test)
