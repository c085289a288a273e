# SPDX-License-Identifier: BSD-2-Clause
"""What became of a session is known after it: it logged out when it was asked to, or its time was
over, or it was dropped."""

from protocol import *


def end_of(daemon, act, **how):
    peer = daemon.session()
    sid = daemon.sessions()[0]["sid"]
    asked = daemon.rpc("session.drop", sid=sid, **how)["asked"]
    act(peer)
    eventually("the end of the session", lambda: daemon.rpc("session.ended", sid=sid))
    end, = daemon.rpc("session.ended", sid=sid)
    check(end["initiator"] == INITIATOR and end["target"] == daemon.target.iqn, f"{end}")
    check(daemon.rpc("session.ended")[0] == end, "not the newest")
    return asked, end["reason"]


def follow(peer):
    check(peer.expect(ASYNC, event=1).param3 == 30, "not as many seconds as were given")
    peer.logout()


def test(daemon):
    found = end_of(daemon, follow, drain=True, seconds=30)
    check(found == (True, "logged out"), f"{found}")
    found = end_of(daemon, lambda peer: peer.expect(ASYNC, event=1), drain=True, seconds=1)
    check(found == (True, "logout timeout after a drain"), f"{found}")
    found = end_of(daemon, lambda peer: peer.expect_closed())
    check(found == (False, "dropped by the administrator"), f"{found}")
    for seconds in (0, -1, 3601):
        try:
            daemon.rpc("session.drop", sid=1, drain=True, seconds=seconds)
        except Failure as why:
            check("seconds: must be 1 to 3600" in str(why), str(why))
        else:
            check(False, f"{seconds} seconds were taken")


main(test)
