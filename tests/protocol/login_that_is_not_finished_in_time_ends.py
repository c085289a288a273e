# SPDX-License-Identifier: BSD-2-Clause
"""The portal group's login_timeout holds from the first byte, however busy the peer keeps."""

import time

from protocol import *


def test(daemon):
    silent, slow = daemon.connect(), daemon.connect()
    raw = slow.login_pdu({**slow.names(), **slow.OPERATIONAL}).wire()
    started = time.monotonic()
    peer = daemon.connect()
    peer.login_step(peer.names(), stage=1, transit=False)
    slow.send_bytes(raw[:47])
    rsp = peer.expect(LOGIN_RSP)
    check(rsp.login_status == 0x0300, f"status {rsp.login_status:04x}")
    peer.expect_closed()
    check(4 < time.monotonic() - started < 9, f"after {time.monotonic() - started:.1f} s of 5")
    for other in (silent, slow):
        other.send_bytes(b"\0") if other is slow else None
        other.close()
    check(daemon.counter("logins_timed_out") >= 1, "not counted")
    daemon.session()


main(test, attributes={"login_timeout": 5})
