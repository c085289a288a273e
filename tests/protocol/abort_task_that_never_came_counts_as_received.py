# SPDX-License-Identifier: BSD-2-Clause
"""ABORT TASK of a CmdSN inside the window that is missing: it counts as received, what was held
runs, and the command is dropped when it shows up after all."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    lost = peer.write_task(0, 1, data=pattern(512))
    held = peer.test_unit_ready()
    peer.send(held)
    abort = peer.send(peer.tmf(ABORT_TASK, lost))
    got = {peer.recv().opcode for _ in range(2)}
    check(got == {TMF_RSP, RESPONSE}, f"{got}")
    peer.send(lost)
    peer.good(peer.test_unit_ready())
    check(peer.read(0, 1) == bytes(512), "the aborted write was carried out")
    outside = peer.write_task(0, 1, cmd_sn=(peer.max_cmd_sn + 5) & NONE)
    abort = peer.send(peer.tmf(ABORT_TASK, outside))
    peer.expect(TMF_RSP, itt=abort.itt, response=1)


main(test)
