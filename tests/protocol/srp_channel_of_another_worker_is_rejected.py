# SPDX-License-Identifier: BSD-2-Clause
"""All channels of a nexus belong to one worker, which addresses are assigned to: MULTI from an
address of another one is rejected with 00010005. SINGLE from there replaces the session."""

from srp import *


def test(daemon):
    first = daemon.session(flags=MULTI)
    more = [daemon.session(flags=MULTI) for _ in range(8)]
    daemon.rejected(NO_MULTI, "another worker", flags=MULTI, source="127.0.0.2")
    for peer in (first, *more):
        peer.expect_alive()
    peer = daemon.connect(source="127.0.0.2")
    check(peer.accepted.rsp_flags & 3 == TERMINATED, f"flags {peer.accepted.rsp_flags:#x}")
    first.expect_closed()
    peer.ready()


main(test, cpus=(0, 1))
