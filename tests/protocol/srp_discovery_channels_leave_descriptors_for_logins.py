# SPDX-License-Identifier: BSD-2-Clause
"""With more channels of discovery than descriptors a newcomer takes the place of one of them, and a
session is not touched."""

from srp import *

FILES = 128
Daemon.files = FILES


def crowd(daemon, act):
    kept = []
    for _ in range(2 * FILES):
        try:
            kept.append(daemon.discovery())
            act(kept[-1])
        except (Failure, OSError):
            pass  # displaced
    return kept


def can(daemon, act):
    try:
        act()
        return True
    except (Failure, OSError):
        return False


def test(daemon):
    keeper = daemon.session(initiator=OTHER)
    for act in (lambda peer: None, lambda peer: peer.send(peer.query())):
        kept = crowd(daemon, act)
        eventually("a login gets in", lambda: can(
            daemon, lambda: daemon.session(source="127.0.0.2").logout()))
        eventually("discovery gets in", lambda: can(
            daemon, lambda: daemon.discovery(source="127.0.0.2").targets()))
        keeper.expect_alive()
        for one in kept:
            one.close()
    check(daemon.rpc("stats.get")["srpt"]["logins_displaced"], "none was displaced")


main(test)
