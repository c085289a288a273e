# SPDX-License-Identifier: BSD-2-Clause
"""Logout over iSER: commands end, the response arrives, the initiator closes; 50 times. A
connection that it leaves open the target closes after a while."""

from iser import *


def test(daemon):
    for i in range(50):
        peer = daemon.session(kind=IserPeer)
        peer.write(i, pattern(BLOCK, i))
        peer.logout()
    Peer.logout(daemon.session(kind=IserPeer))
    eventually("sessions are gone", lambda: not daemon.sessions())


main(test)
