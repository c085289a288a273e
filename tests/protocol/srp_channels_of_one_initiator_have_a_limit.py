# SPDX-License-Identifier: BSD-2-Clause
"""A nexus has at most 64 channels: the next one is rejected with 00010006, and others log in."""

from srp import *


def test(daemon):
    channels = [daemon.connect(flags=MULTI) for _ in range(64)]
    daemon.rejected(CHANNEL_LIMIT, "as many channels", flags=MULTI)
    for peer in channels[-4:]:
        peer.ready()
    daemon.session(initiator=OTHER)


main(test)
