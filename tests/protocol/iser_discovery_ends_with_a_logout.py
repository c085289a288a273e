# SPDX-License-Identifier: BSD-2-Clause
"""A discovery session over iSER lists the target with the address it was asked at, in one message
of up to 8192 bytes, knows nothing but Text and Logout, and logs out."""

from iser import *


def test(daemon):
    peer = daemon.connect(IserPeer).login(discovery=True)
    answer, count = peer.texts({"SendTargets": "All"})
    host, port = daemon.target.portals[0]
    found = pairs_of(answer)
    check(count == 1 and len(answer) > 1024, f"{len(answer)} bytes in {count} messages")
    check(("TargetAddress", f"{host}:{port},1") in found, f"{found[:4]}")
    peer.send(peer.test_unit_ready())
    check(peer.expect(REJECT).reason == 4, "a command in a discovery session")
    peer.logout()


main(test, targets=20, luns=0)
