# SPDX-License-Identifier: BSD-2-Clause
"""Only a login that has proved itself takes a session's place: a stranger with the same name and
ISID ends nothing."""

from protocol import *


def test(daemon):
    def chap(peer, secret):
        rsp = peer.chap_start("7")
        return peer.login_request(peer.chap_response(rsp, "user", secret), stage=0, next_stage=1)

    peer = daemon.connect()
    check(chap(peer, "secret-of-12").login_status == 0, "the right secret is refused")
    peer.login_step(peer.OPERATIONAL)
    peer.ready()
    thief = daemon.connect()
    check(chap(thief, "secret-of-13").login_status == 0x0201, "the wrong secret is let in")
    daemon.connect().refused(0x0201)
    peer.good(peer.test_unit_ready(), "after a stranger's login")


main(test, attributes={"authentication": 1},
     chap={"chap_userid": "user", "chap_password": "secret-of-12"})
