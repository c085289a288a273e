# SPDX-License-Identifier: BSD-2-Clause
"""The first one of the list that is allowed is taken; "56" and nothing at all are refused."""

from protocol import *


def test(daemon):
    for offer, choice in (("5,6,7,8", "7"), ("8,7", "8"), ("99,7", "7"), ("7,5", "7")):
        peer = daemon.connect()
        rsp = peer.chap_start(offer)
        check(rsp.keys.get("CHAP_A") == choice, f"{offer}: {rsp.keys} {rsp.login_status:04x}")
        peer.close()
    for offer in ("5", "6", "5,6", "56", "", "78", "9", "7a"):
        peer = daemon.connect()
        rsp = peer.chap_start(offer)
        check(rsp.login_status == 0x0201, f"{offer!r}: status {rsp.login_status:04x}")
        peer.expect_closed()


main(test, attributes={"authentication": 1, "chap_algorithms": 128 + 256},
     chap={"chap_userid": "user", "chap_password": "secret-of-12"})
