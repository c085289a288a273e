# SPDX-License-Identifier: BSD-2-Clause
"""One byte now and then keeps no login alive past login_timeout."""

import select
import time

from protocol import *


def test(daemon):
    peer = daemon.connect()
    started = time.monotonic()
    peer.login_step(peer.names(), stage=1, transit=False)
    raw = peer.login_pdu(peer.OPERATIONAL).wire()
    for at in range(len(raw)):
        try:
            peer.send_bytes(raw[at:at + 1])
        except OSError:
            break
        readable, _, _ = select.select([peer.socket], [], [], 0.25)
        if readable:
            break
    took = time.monotonic() - started
    check(4 < took < 9, f"the login was ended after {took:.1f} s of 5")
    daemon.session()


main(test, attributes={"login_timeout": 5})
