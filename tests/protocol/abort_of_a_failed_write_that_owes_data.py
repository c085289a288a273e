# SPDX-License-Identifier: BSD-2-Clause
"""A write that has failed and whose unsolicited data never comes is aborted like any other:
complete, without its status, and the stream stays in step."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    failed = peer.send(peer.write_task(0x7ffffff0, 16, final=False))
    abort = peer.send(peer.tmf(ABORT_TASK, failed))
    peer.expect(TMF_RSP, itt=abort.itt, response=0)
    peer.send(*peer.data_out(failed, pattern(8192), 0))  # late: thrown away
    peer.good(peer.test_unit_ready())
    again = peer.send(peer.tmf(ABORT_TASK, failed))
    peer.expect(TMF_RSP, itt=again.itt, response=1)
    check(peer.max_cmd_sn - peer.exp_cmd_sn == 63, "the window lacks a place")


main(test)
