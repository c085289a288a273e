# SPDX-License-Identifier: BSD-2-Clause
"""QEMU's NOP-Out is not immediate: it takes a CmdSN, and its payload comes back."""

from initiators import Libiscsi
from protocol import *


def test(daemon):
    peer = daemon.session(kind=Libiscsi)
    for size in (0, 1, 4, 4095):
        before = peer.cmd_sn
        echo = peer.ping(pattern(size))
        check(echo.data == pattern(size), f"the echo of {size} bytes differs")
        check(echo.exp_cmd_sn == (before + 1) & NONE, "the ping has taken no CmdSN")


main(test)
