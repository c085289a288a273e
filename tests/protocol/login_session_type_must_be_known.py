# SPDX-License-Identifier: BSD-2-Clause
"""SessionType other than Normal and Discovery is 0209."""

from protocol import *


def test(daemon):
    peer = daemon.connect()
    peer.refused(0x0209, {**peer.names(), "SessionType": "Boot"})


main(test)
