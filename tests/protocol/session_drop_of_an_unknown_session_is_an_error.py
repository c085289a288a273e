# SPDX-License-Identifier: BSD-2-Clause
"""Dropping a session that is not there says so, leaves the others alone and leaks nothing (which
a sanitized daemon tells at its end)."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    for drain in (True, False):
        try:
            daemon.rpc("session.drop", sid=999, drain=drain)
        except Failure as why:
            check("no session 999" in str(why), str(why))
        else:
            check(False, "a session that is not there was dropped")
    peer.good(peer.test_unit_ready())


main(test)
