# SPDX-License-Identifier: BSD-2-Clause
"""A key said twice in one text is an initiator error, 0200."""

from protocol import *


def test(daemon):
    peer = daemon.connect()
    peer.refused(0x0200, text(peer.names()) + b"ImmediateData=Yes\0ImmediateData=No\0")


main(test)
