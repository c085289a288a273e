# SPDX-License-Identifier: BSD-2-Clause
"""The refusal is on record with its names and the reason."""

from protocol import *


def test(daemon):
    peer = daemon.connect(target="iqn.2025-01.org.example:nobody")
    peer.refused(0x0203)
    entry = daemon.refusals()[0]
    check(entry["target"] == peer.target and entry["initiator"] == peer.initiator, f"{entry}")
    check(entry["status"] == 0x0203 and entry["reason"], f"{entry}")
    check(entry["peer"].startswith("127.0.0.1"), f"{entry}")
    peer = daemon.connect(target="not a name")
    peer.refused(0x0203)


main(test)
