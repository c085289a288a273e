# SPDX-License-Identifier: BSD-2-Clause
"""SendTargets=All beyond 32 KiB comes in pieces that iscsid fetches with empty Text Requests."""

from initiators import Iscsid
from protocol import *


def test(daemon):
    peer = daemon.connect(Iscsid)
    peer.login(discovery=True)
    answer, count = peer.texts({"SendTargets": "All"})
    found = [value for key, value in pairs_of(answer) if key == "TargetName"]
    check(count > 1, f"{len(answer)} bytes came in {count} PDU")
    check(len(found) == 600 == len(set(found)), f"{len(found)} targets of 600")
    check(all(name == name.lower() for name in found), "a name is not in lower case")
    portals = [value for key, value in pairs_of(answer) if key == "TargetAddress"]
    check(len(portals) == 600, f"{len(portals)} addresses")
    peer.logout()


main(test, targets=600, luns=0)
