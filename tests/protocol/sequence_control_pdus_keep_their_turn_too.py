# SPDX-License-Identifier: BSD-2-Clause
"""NOP-Out, Text, task management and Logout that are not immediate wait for a missing CmdSN."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    first = peer.test_unit_ready()
    later = [peer.request(NOP_OUT, data=b"later", ttt=NONE),
             peer.request(TEXT, data=text({"SendTargets": "All"}), ttt=NONE),
             peer.tmf(ABORT_TASK_SET, immediate=False), peer.test_unit_ready(),
             peer.request(LOGOUT)]
    peer.send(*later)
    ping = peer.send(peer.request(NOP_OUT, immediate=True, ttt=NONE))
    peer.expect(NOP_IN, itt=ping.itt)
    peer.send(first)
    for opcode in (RESPONSE, NOP_IN, TEXT_RSP, TMF_RSP, RESPONSE, LOGOUT_RSP):
        peer.expect(opcode)
    peer.expect_closed()


main(test)
