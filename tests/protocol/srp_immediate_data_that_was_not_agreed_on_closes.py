# SPDX-License-Identifier: BSD-2-Clause
"""Without the agreement of the login the format of immediate data is unknown."""

from srp import *


def test(daemon):
    peer = daemon.session(immediate=False)
    peer.send(peer.write_from(peer.immediate(pattern(512))))
    peer.expect_closed()
    check(daemon.session().read(0, 1) == bytes(512), "the write was carried out")


main(test)
