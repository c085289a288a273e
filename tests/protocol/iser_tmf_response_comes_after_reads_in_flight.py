# SPDX-License-Identifier: BSD-2-Clause
"""ABORT TASK and LOGICAL UNIT RESET while an RDMA Read is in flight: commands and pings are answered
meanwhile, the task management response only when the Read is done, the command never."""

from iser import *


def test(daemon):
    peer = daemon.session(kind=IserPeer)
    for function in (ABORT_TASK, LU_RESET):
        pdu = peer.held_write()
        tmf = peer.send(peer.tmf(function, pdu))
        ping(peer)
        ping(peer)
        peer.holds_reads = False
        peer.serve_reads()
        peer.expect(TMF_RSP, itt=tmf.itt, response=0)
        ping(peer)
        peer.ready()
    peer.write_and_read_back(0, pattern(65536, 3))


main(test)
