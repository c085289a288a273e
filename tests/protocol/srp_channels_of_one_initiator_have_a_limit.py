# SPDX-License-Identifier: BSD-2-Clause
"""One initiator cannot open channels without end: it is rejected with a reason, and others log
in."""

from srp import *


def test(daemon):
    channels = []
    try:
        while len(channels) < 2000:
            channels.append(daemon.connect(flags=MULTI))
    except Refused as why:
        reason = SrpPeer.rejection(why)
        check(reason in (NO_RESOURCES, CHANNEL_LIMIT), f"{reason:#x}")
    check(len(channels) < 2000, "2000 channels of one nexus")
    for peer in channels[-4:]:
        peer.ready()
    daemon.session(initiator=OTHER)


main(test)
