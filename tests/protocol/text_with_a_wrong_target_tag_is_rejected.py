# SPDX-License-Identifier: BSD-2-Clause
"""A Text Request that continues something that is not there."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    peer.send(peer.request(TEXT, data=b"", ttt=0x1234, immediate=True))
    peer.expect(REJECT)
    peer.good(peer.test_unit_ready())


main(test)
