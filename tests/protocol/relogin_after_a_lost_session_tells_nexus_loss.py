# SPDX-License-Identifier: BSD-2-Clause
"""An initiator that comes back after the target has noticed the loss of its session is told I_T
NEXUS LOSS OCCURRED, not POWER ON: its disk has lost nothing."""

from protocol import *


def first_sense(daemon):
    peer = daemon.connect(isid=bytes.fromhex("80aabb000003"))
    peer.login()
    pdu = peer.send(peer.test_unit_ready())
    sense = peer.expect_status(pdu.itt, CHECK).sense
    peer.close()
    eventually("the end of the session", lambda: not daemon.sessions())
    return sense


def test(daemon):
    sense = first_sense(daemon)
    check(sense == (6, 0x29, 0x00), f"a new nexus: sense {sense}")
    sense = first_sense(daemon)
    check(sense == (6, 0x29, 0x07), f"a nexus that came back: sense {sense}")


main(test)
