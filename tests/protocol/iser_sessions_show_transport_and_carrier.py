# SPDX-License-Identifier: BSD-2-Clause
"""A session over software iWARP is shown as iSER, with its carrier and both addresses, and as
granting the network no right to any memory of the target."""

from iser import *


def test(daemon):
    peer = daemon.session(kind=IserPeer)
    peer.write(0, pattern(65536))
    peer.read(0, 128)
    session, = daemon.sessions()
    check(session["transport"] == "iSER" and session["carrier"] == "iWARP", f"{session}")
    host, port = peer.socket.getsockname()
    check(session["peer"] == f"{host}:{port}", session["peer"])
    check(session["remote_rights"] == 0, f"{session['remote_rights']} registrations")
    other = daemon.session(isid=bytes.fromhex("80aabb000002"))
    check({s["carrier"] for s in daemon.sessions()} == {"iWARP", "TCP"}, "carriers")
    other.close()


main(test)
