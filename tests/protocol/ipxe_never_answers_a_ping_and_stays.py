# SPDX-License-Identifier: BSD-2-Clause
"""iPXE ignores NOP-In: the limit for answers must not end a session that never showed it knows
them."""

import select

from initiators import Ipxe
from protocol import *


def test(daemon):
    peer = daemon.session(kind=Ipxe)
    ping = Wire.recv(peer)
    check(ping.opcode == NOP_IN and ping.itt == NONE and ping.ttt != NONE, "no ping when idle")
    # The limit is 3 s; a ping beyond it would be the second one, and iPXE gets only one.
    ready, _, _ = select.select([peer.socket], [], [], 5)
    check(not ready, "the target closed, or pinged again")
    peer.good(peer.test_unit_ready())


main(test, attributes={"nopin_timeout": 3, "nopin_response_timeout": 3})
