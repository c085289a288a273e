# SPDX-License-Identifier: BSD-2-Clause
"""A session that has lost its connection ends although its task management requests wait for
another initiator, whose RDMA Read is not answered: the initiator logs in again at once."""

from srp import *


def lose_and_return(daemon, function):
    peer = daemon.session()
    peer.send(peer.task_mgmt(function))
    iu = peer.send(peer.test_unit_ready())
    peer.expect(RSP, "(the request before it has been taken)", tag=iu.tag)
    peer.close()
    daemon.session().close()


def test(daemon):
    for function in (CLEAR_TASK_SET, LUN_RESET):
        other = daemon.session(initiator=OTHER)
        held = other.held_write()
        lose_and_return(daemon, function)
        other.holds_reads = False
        other.serve_reads()
        other.response(held, TASK_ABORTED)
        other.close()


main(test, cpus=(0, 1))
