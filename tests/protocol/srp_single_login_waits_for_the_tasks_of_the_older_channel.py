# SPDX-License-Identifier: BSD-2-Clause
"""A login with SINGLE is answered when nothing of the older session is in flight: a write whose
data is still to come does not reach the disk after commands of the new session."""

from srp import *


def test(daemon):
    for turn in range(20):
        old = daemon.session()
        old.held_write(turn + 1)
        peer = daemon.session()
        peer.write(0, pattern(65536, 1000 + turn))
        old.serve_reads()
        old.expect_closed()
        check(peer.read(0, 128) == pattern(65536, 1000 + turn), "an older write came later")


main(test, cpus=(0, 1))
