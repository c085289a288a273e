# SPDX-License-Identifier: BSD-2-Clause
"""Commands behind a missing CmdSN wait; when it comes they run in the order of their numbers."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    writes = [peer.write_task(0, 1, data=pattern(512, n), attr=ORDERED)
              for n in range(8)]
    peer.send(*reversed(writes[1:]))
    ping = peer.send(peer.request(NOP_OUT, immediate=True, ttt=NONE))
    echo = peer.expect(NOP_IN, "something ran before its turn", itt=ping.itt)
    check(echo.exp_cmd_sn == writes[0].cmd_sn, "ExpCmdSN has passed the gap")
    peer.send(writes[0])
    done = [peer.expect(RESPONSE, status=GOOD).itt for _ in writes]
    check(done == [w.itt for w in writes], "not in the order of CmdSN")
    check(peer.read(0, 1) == pattern(512, 7), "the last write is not the last")


main(test)
