# SPDX-License-Identifier: BSD-2-Clause
"""The peer shuts its side down, or both, in every phase: the target closes."""

import socket

from protocol import *


def test(daemon):
    for phase in range(3):
        peer = daemon.connect()
        if phase == 1:
            peer.login_step(peer.names(), stage=1, transit=False)
        elif phase == 2:
            peer.login()
        peer.socket.shutdown(socket.SHUT_WR)
        peer.expect_closed(f"in phase {phase}")
    peer = daemon.session({"InitialR2T": "Yes", "ImmediateData": "No"})
    peer.send(peer.write_task(0, 8), peer.read_task(0, 8))
    peer.socket.shutdown(socket.SHUT_WR)
    try:
        while True:
            peer.recv()
    except Closed:
        pass
    check(daemon.session().read(0, 8) == bytes(4096), "an unfinished write was carried out")


main(test)
