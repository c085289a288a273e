# SPDX-License-Identifier: BSD-2-Clause
"""Login requests are immediate: the first command has the login's CmdSN, wherever that starts,
past the wrap too."""

from protocol import *


def test(daemon):
    for start in (0, 1, 0x7fffffff, 0xffffffff):
        peer = daemon.connect()
        peer.cmd_sn = start
        peer.login()
        check(peer.exp_cmd_sn == start, f"ExpCmdSN {peer.exp_cmd_sn:#x} after login")
        check((peer.max_cmd_sn - start) & NONE == 63, "the window is not 64")
        peer.ready()
        peer.write(0, pattern(8192))
        peer.close()


main(test)
