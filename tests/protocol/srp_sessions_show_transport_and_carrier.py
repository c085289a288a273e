# SPDX-License-Identifier: BSD-2-Clause
"""A session is shown as SRP with its carrier, initiator and addresses, and as granting the network
no right to any memory of the target."""

from srp import *


def test(daemon):
    peer = daemon.session()
    peer.write(0, pattern(65536))
    peer.read(0, 128)
    session, = daemon.sessions()
    check(session["transport"] == "SRP" and session["carrier"] == "iWARP", f"{session}")
    check(session["initiator"] == farblock.SRP_INITIATOR, f"{session}")
    host, port = peer.socket.getsockname()
    check(session["peer"] == f"{host}:{port}", session["peer"])
    check(session["remote_rights"] == 0, f"{session['remote_rights']} registrations")


main(test)
