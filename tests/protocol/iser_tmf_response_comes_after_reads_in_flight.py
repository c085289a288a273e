# SPDX-License-Identifier: BSD-2-Clause
"""ABORT TASK and LOGICAL UNIT RESET while an RDMA Read is in flight: commands and pings are answered
meanwhile, the task management response only when the Read is done, the command never."""

from iser import *


def held_write(peer):
    """A write whose RDMA Read has come and is not answered."""
    peer.holds_reads = True
    pdu = peer.send(peer.write_from(peer.write_task(0, 128), pattern(65536)))
    while not peer.held_reads:
        check(peer.turn() is None, "an answer instead of an RDMA Read")
    return pdu


def ping(peer):
    pdu = peer.send(peer.request(NOP_OUT, immediate=True, ttt=NONE))
    peer.expect(NOP_IN, "where the task management response has to wait", itt=pdu.itt)


def test(daemon):
    peer = daemon.session(kind=IserPeer)
    for function in (ABORT_TASK, LU_RESET):
        pdu = held_write(peer)
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
