# SPDX-License-Identifier: BSD-2-Clause
"""A login with SINGLE ends all channels of its nexus and says so; a T_LOGOUT comes at most where an
IU has been received. Those of another initiator continue."""

from srp import *


def test(daemon):
    other = daemon.session(initiator=OTHER)
    first, second = daemon.session(), daemon.session(flags=MULTI)
    silent = daemon.connect(flags=MULTI)
    peer = daemon.connect()
    check(peer.accepted.rsp_flags & 3 == TERMINATED, f"flags {peer.accepted.rsp_flags:#x}")
    for old in (first, second):
        check(old.expect_closed("after a login with SINGLE") in (None, NEW_LOGIN), "reason")
    check(silent.expect_closed() is None, "an IU to an initiator that has no receive buffers")
    peer.ready()
    other.expect_alive()
    check(len(daemon.sessions()) == 2, f"{len(daemon.sessions())} sessions")


main(test, cpus=(0, 1))
