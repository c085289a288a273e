# SPDX-License-Identifier: BSD-2-Clause
"""ABORT TASK and LUN RESET while an RDMA Read is in flight: other commands are served meanwhile,
the response comes when the Read is done, the aborted command has none."""

from srp import *


def test(daemon):
    peer = daemon.session()
    for function in (ABORT_TASK, ABORT_TASK_SET, CLEAR_TASK_SET, LUN_RESET):
        iu = peer.held_write()
        tmf = peer.send(peer.task_mgmt(function, iu))
        peer.response(peer.send(peer.command(b"\x12\0\0\0\x24", data_in=peer.direct(bytes(36),
                                                                                    True))))
        peer.holds_reads = False
        peer.serve_reads()
        peer.forget(iu)
        check(peer.expect(RSP, tag=tmf.tag).code == COMPLETE, f"function {function}")
        peer.ready()


main(test)
