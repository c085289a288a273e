# SPDX-License-Identifier: BSD-2-Clause
"""A normal session needs TargetName."""

from protocol import *


def test(daemon):
    peer = daemon.connect()
    peer.refused(0x0207, {"InitiatorName": peer.initiator, "SessionType": "Normal"})
    check("TargetName" in daemon.refusals()[0]["reason"], f"{daemon.refusals()[0]}")


main(test)
