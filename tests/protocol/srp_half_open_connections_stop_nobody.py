# SPDX-License-Identifier: BSD-2-Clause
"""Hundreds of peers that say one byte, or half of a request, hold up no login."""

import socket

from srp import *


def test(daemon):
    sockets = []
    for i in range(300):
        sockets.append(socket.create_connection(daemon.target.portals[0], 20))
        sockets[i].sendall(b"M" if i % 2 else mpa_request(login_request())[:40])
    daemon.session().write(0, pattern(65536))
    daemon.session(flags=MULTI).expect_alive()
    for half in sockets:
        half.close()


main(test)
