# SPDX-License-Identifier: BSD-2-Clause
"""Logout over iSER: commands end, the response arrives, then the connection closes. 50 times."""

from iser import *


def test(daemon):
    for i in range(50):
        peer = daemon.session(kind=IserPeer)
        peer.write(i, pattern(BLOCK, i))
        peer.logout()
    eventually("sessions are gone", lambda: not daemon.sessions())


main(test)
