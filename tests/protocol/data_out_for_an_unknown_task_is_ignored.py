# SPDX-License-Identifier: BSD-2-Clause
"""Data for a tag that is not there (aborted, most likely) is discarded; the session continues."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    ghost = peer.write_task(0, 8, cmd_sn=0)
    for ttt in (NONE, 0, 17):
        peer.send(*peer.data_out(ghost, pattern(4096), 0, ttt, size=512))
    peer.good(peer.test_unit_ready())
    check(peer.read(0, 8) == bytes(4096), "the medium has changed")


main(test)
