# SPDX-License-Identifier: BSD-2-Clause
"""With more connections that say nothing, or discover and stay, than descriptors, a newcomer takes the
place of one of them, and a session is not touched."""

import socket

from protocol import *

FILES = 128
Daemon.files = FILES


def crowd(daemon, make):
    kept = []
    for n in range(2 * FILES):
        try:
            kept.append(make(daemon, n))
        except (Failure, OSError):
            pass  # displaced while it logged in
    return kept


def silent(daemon, n):
    return socket.create_connection(daemon.target.portals[0], 20)


def discovering(daemon, n):
    return daemon.connect().login(discovery=True)


def can_log_in(daemon):
    try:
        daemon.session(source="127.0.0.2").logout()
        return True
    except (Failure, OSError):
        return False


def test(daemon):
    keeper = daemon.session(isid=bytes.fromhex("80aabb000002"))
    for make in (silent, discovering):
        kept = crowd(daemon, make)
        eventually("a newcomer gets in", lambda: can_log_in(daemon))
        keeper.good(keeper.test_unit_ready())
        for one in kept:
            one.close()


main(test, attributes={"nopin_timeout": 60})
