# SPDX-License-Identifier: BSD-2-Clause
"""Hundreds of peers that say one byte, or greet and never log in, hold up no login."""

import socket

from iser import *


def test(daemon):
    sockets = []
    for i in range(300):
        sockets.append(socket.create_connection(daemon.target.portals[0], 20))
        sockets[i].sendall(b"M" if i % 2 else iser_raw.mpa_request())
    peer = daemon.session(kind=IserPeer)
    peer.write(0, pattern(65536))
    other = daemon.session(isid=bytes.fromhex("80aabb000002"))
    for half in sockets:
        half.close()
    eventually("they are gone", lambda: daemon.rpc("tree.info", path="{}/portals/{}:{}".format(
        daemon.tpg_path(), *daemon.target.portals[0]))["connections"] == 2)
    other.close()


main(test)
