# SPDX-License-Identifier: BSD-2-Clause
"""Channels of a nexus are one task set for ABORT TASK and ABORT TASK SET; a nexus of another
initiator is not reached."""

from srp import *


def test(daemon):
    first, second = daemon.session(flags=MULTI), daemon.session(flags=MULTI)
    other = daemon.session(initiator=OTHER, flags=MULTI)
    for function in (ABORT_TASK, ABORT_TASK_SET):
        iu = first.held_write()
        other.manage(function, iu)
        tmf = second.send(second.task_mgmt(function, iu))
        first.holds_reads = False
        first.serve_reads()
        first.forget(iu)
        check(second.expect(RSP, tag=tmf.tag).code == COMPLETE, f"function {function}")
        first.expect_alive()


main(test, cpus=(0, 1))
