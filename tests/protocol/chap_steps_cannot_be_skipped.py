# SPDX-License-Identifier: BSD-2-Clause
"""AuthMethod=None, CHAP_N first, a second CHAP_A, transit without a proof: none leads in."""

from protocol import *


def test(daemon):
    def start():
        return daemon.connect()

    start().refused(0x0201, {**start().names(), "AuthMethod": "None"}, stage=0, next_stage=1)
    start().refused(0x0201, {**start().names()}, stage=1)
    peer = start()
    rsp = peer.login_request({**peer.names(), "AuthMethod": "CHAP", "CHAP_A": "5",
                              "CHAP_N": "user", "CHAP_R": "0x00"}, stage=0, next_stage=3)
    check(rsp.login_status or not rsp.flags & 0x80, "let in without a proof")
    peer = start()
    rsp = peer.chap_start("5")
    rsp = peer.login_request({}, stage=0, next_stage=3)
    check(rsp.login_status == 0x0201, f"empty answer: {rsp.login_status:04x}")
    peer = start()
    first = peer.chap_start("5")
    rsp = peer.login_request({"CHAP_A": "5"}, stage=0, transit=False)
    check(rsp.login_status, "a second question for one login")
    check(first.keys["CHAP_C"], "no challenge")
    check(daemon.sessions() == [], "a login succeeded")


main(test, attributes={"authentication": 1},
     chap={"chap_userid": "user", "chap_password": "secret-of-12"})
