# SPDX-License-Identifier: BSD-2-Clause
"""A peer that never asks for transit is refused after a while."""

from protocol import *


def test(daemon):
    peer = daemon.connect()
    peer.login_step(peer.names(), stage=1, transit=False)
    for _ in range(200):
        rsp = peer.login_request({}, transit=False)
        if rsp.login_status:
            break
    check(rsp.login_status == 0x0200, f"{rsp.login_status:04x} after 200 requests")
    peer.expect_closed()


main(test)
