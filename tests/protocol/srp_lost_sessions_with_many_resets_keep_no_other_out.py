# SPDX-License-Identifier: BSD-2-Clause
"""What lost sessions of one initiator leave behind has a limit of its own: beyond it that initiator
waits for its older session, and another one still logs in again at once."""

from srp import *

THIRD = "ib.0002c903000c00010002c903000c0003"


def lose(daemon, resets, **options):
    peer = daemon.session(**options)
    for _ in range(resets):
        peer.send(peer.task_mgmt(LUN_RESET))
    iu = peer.send(peer.test_unit_ready())
    peer.expect(RSP, "(the requests before it have been taken)", tag=iu.tag)
    peer.close()


def test(daemon):
    other = daemon.session(initiator=OTHER)
    held = other.held_write()
    for _ in range(2):
        lose(daemon, 16, initiator=THIRD)
    for _ in range(4):
        lose(daemon, 1)
    daemon.session().close()
    other.holds_reads = False
    other.serve_reads()
    other.response(held, TASK_ABORTED)
    daemon.session(initiator=THIRD).close()


main(test, cpus=(0, 1), acls=(farblock.SRP_INITIATOR, OTHER, THIRD))
