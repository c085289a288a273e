# SPDX-License-Identifier: BSD-2-Clause
"""Channels with MULTI and the same port identifiers are one nexus: one session, its unit attentions
are taken once, each channel serves commands with credits of its own."""

from srp import *


def test(daemon):
    first = daemon.connect(flags=MULTI)
    check(first.accepted.rsp_flags & 3 == NO_CHANNEL, "there was no other channel")
    first.ready()
    more = [daemon.connect(flags=MULTI) for _ in range(3)]
    for i, peer in enumerate(more):
        check(peer.accepted.rsp_flags & 3 == MAINTAINED, f"flags {peer.accepted.rsp_flags:#x}")
        peer.expect_alive("(no unit attention: the nexus has had them)")
        peer.write(128 * i, pattern(65536, i))
    for i in range(3):
        check(first.read(128 * i, 128) == pattern(65536, i), "read back differs")
    check(len(daemon.sessions()) == 1, f"{len(daemon.sessions())} sessions")
    more[0].close()
    more[1].logout()
    for peer in (first, more[2]):
        peer.expect_alive("after other channels have ended")


main(test, cpus=(0, 1))
