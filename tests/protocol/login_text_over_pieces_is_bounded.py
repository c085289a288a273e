# SPDX-License-Identifier: BSD-2-Clause
"""A continued text that never ends is refused, memory or not."""

from protocol import *


def test(daemon):
    peer = daemon.connect()
    for _ in range(100):
        rsp = peer.login_request(b"X-a=" + b"a" * 8000, transit=False, more=True)
        if rsp.login_status:
            break
    check(rsp.login_status == 0x0200, f"{rsp.login_status:04x} after 800 KB")
    peer.expect_closed()


main(test)
