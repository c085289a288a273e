# SPDX-License-Identifier: BSD-2-Clause
"""An initiator that wants the target's proof where none is configured is refused, not ignored; a
challenge that is empty, endless or half there is refused too."""

from protocol import *


def test(daemon):
    for extra in ({"CHAP_I": "1", "CHAP_C": "0x" + "11" * 16}, {"CHAP_I": "1"},
                  {"CHAP_C": "0x1111"}, {"CHAP_I": "256", "CHAP_C": "0x" + "11" * 16},
                  {"CHAP_I": "1", "CHAP_C": "0x"}, {"CHAP_I": "1", "CHAP_C": "0x" + "1" * 2050}):
        peer = daemon.connect()
        rsp = peer.chap_start("5")
        rsp = peer.login_request({**peer.chap_response(rsp, "user", "secret-of-12"), **extra},
                                 stage=0, next_stage=1)
        check(rsp.login_status in (0x0200, 0x0201), f"{extra}: {rsp.login_status:04x}")
        peer.expect_closed()


main(test, attributes={"authentication": 1},
     chap={"chap_userid": "user", "chap_password": "secret-of-12"})
