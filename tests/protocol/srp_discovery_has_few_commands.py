# SPDX-License-Identifier: BSD-2-Clause
"""A channel of discovery ends with its seventeenth command or task management request."""

from srp import *

MOST = 16


def test(daemon):
    for ask in (lambda peer: peer.response(peer.send(peer.query())),
                lambda peer: peer.manage(LUN_RESET, None, TMF_UNSUPPORTED)):
        peer = daemon.discovery()
        for _ in range(MOST):
            ask(peer)
        peer.send(peer.query())
        peer.expect_closed("after too many commands")
    daemon.discovery().targets()


main(test)
