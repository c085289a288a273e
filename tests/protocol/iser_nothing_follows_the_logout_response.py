# SPDX-License-Identifier: BSD-2-Clause
"""A Text Response that is due when a Logout Request comes is not sent after the Logout Response,
which is the last PDU of a connection."""

import socket

from iser import *


def test(daemon):
    peer = daemon.session(kind=IserPeer)
    request = peer.request(TEXT, data=text({"SendTargets": "All"}), ttt=NONE, immediate=True)
    logout = peer.request(LOGOUT, F, immediate=True)
    daemon.pause()
    peer.send(request, logout)
    daemon.resume()
    peer.expect(LOGOUT_RSP, itt=logout.itt, response=0)
    daemon.settle()
    peer.socket.shutdown(socket.SHUT_WR)
    peer.expect_closed("after the Logout Response")


main(test)
