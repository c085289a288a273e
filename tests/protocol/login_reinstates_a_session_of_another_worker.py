# SPDX-License-Identifier: BSD-2-Clause
"""The old connection breaks while a login on another worker takes its place: two threads agree on
who ends what, and the new session is there."""

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


main(test, cpus=(0, 1))
