# SPDX-License-Identifier: BSD-2-Clause
"""InitiatorName is needed in the first request."""

from protocol import *


def test(daemon):
    peer = daemon.connect()
    peer.refused(0x0207, {"SessionType": "Normal", "TargetName": peer.target})
    check("InitiatorName" in daemon.refusals()[0]["reason"], f"{daemon.refusals()[0]}")


main(test)
