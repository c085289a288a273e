# SPDX-License-Identifier: BSD-2-Clause
"""A login to an identifier that no target has is rejected with 00010003: each half of it counts."""

from srp import *


def test(daemon):
    port = port_id(daemon.target.iqn)
    for wrong in (bytes(16), port[:8] + bytes(8), bytes(8) + port[8:], port[8:] + port[:8],
                  port[:15] + bytes((port[15] ^ 1,)), port_id(farblock.SRP_INITIATOR)):
        daemon.rejected(NO_PORT, login={"target": wrong})
    check(len(daemon.sessions()) == 0, "a session")
    daemon.session()


main(test)
