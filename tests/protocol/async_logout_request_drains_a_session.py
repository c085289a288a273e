# SPDX-License-Identifier: BSD-2-Clause
"""session.drop with drain asks for a logout (event 1); one that does not follow ends in time."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    sid = daemon.sessions()[0]["sid"]
    daemon.rpc("session.drop", sid=sid, drain=True)
    told = peer.expect(ASYNC, event=1)
    check(told.param3 > 0, "no time to log out in")
    peer.logout()
    peer = daemon.session()
    daemon.rpc("session.drop", sid=daemon.sessions()[0]["sid"])
    peer.expect_closed("when it was dropped")
    check(daemon.sessions() == [], "still there")


main(test)
