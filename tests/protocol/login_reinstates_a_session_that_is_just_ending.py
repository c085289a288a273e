# SPDX-License-Identifier: BSD-2-Clause
"""The old connection breaks in the moment in which the new login takes its place: whichever
comes first, the new session is there and nothing of the old one is touched again."""

from protocol import *


def test(daemon):
    old = daemon.session()
    for turn in range(100):
        new = daemon.connect()
        new.login_step(new.names(), stage=1, transit=False)
        new.said = new.OPERATIONAL
        last = new.login_pdu(new.OPERATIONAL)
        daemon.pause()
        if turn % 2:
            old.close()
        new.send(last)
        old.close()
        daemon.resume()
        rsp = new.expect(LOGIN_RSP)
        check(rsp.login_status == 0, f"status {rsp.login_status:04x}")
        new.enter_full_feature(rsp)
        new.ready()
        old = new
    check(len(daemon.sessions()) == 1, "an old session is still there")


main(test)
