# SPDX-License-Identifier: BSD-2-Clause
"""Several missing CmdSNs are aborted, in any order; numbers behind them go on, whether more is
held or not."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        lost = [peer.test_unit_ready() for _ in range(3)]
        for n in order:
            abort = peer.send(peer.tmf(ABORT_TASK, lost[n]))
            peer.expect(TMF_RSP, itt=abort.itt, response=0)
        check(peer.exp_cmd_sn == peer.cmd_sn, f"{order}: ExpCmdSN stands before what is aborted")
        peer.good(peer.test_unit_ready(), f"after {order}")
    # The gap in front is filled by the command itself, not by an abort.
    first, second = peer.test_unit_ready(), peer.test_unit_ready()
    abort = peer.send(peer.tmf(ABORT_TASK, second))
    peer.expect(TMF_RSP, itt=abort.itt, response=0)
    peer.send(second)  # shows up after all, still early
    peer.good(first)
    peer.good(peer.test_unit_ready())


main(test)
