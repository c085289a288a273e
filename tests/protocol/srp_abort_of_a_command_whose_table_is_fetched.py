# SPDX-License-Identifier: BSD-2-Clause
"""ABORT TASK and LUN RESET while the RDMA Read of a table is in flight: the response follows the
read. A write moves nothing and has no RSP; a read whose data was ready ends before."""

from srp import *


def test(daemon):
    peer = daemon.session()
    for function in (ABORT_TASK, LUN_RESET):
        for is_read in (False, True):
            table = peer.indirect([pattern(4096)] * 4, is_read, 1)
            peer.holds_reads = True
            iu = peer.send(peer.read_into(table) if is_read else peer.write_from(table))
            while not peer.held_reads:
                peer.turn()
            tmf = peer.send(peer.task_mgmt(function, iu))
            peer.holds_reads = False
            peer.serve_reads()
            if is_read:
                peer.response(iu)
            else:
                peer.forget(iu)
            check(peer.expect(RSP, tag=tmf.tag).code == COMPLETE, f"function {function}")
            peer.ready()
    check(peer.read(0, 32) == bytes(16384), "data-out of an aborted command")


main(test)
