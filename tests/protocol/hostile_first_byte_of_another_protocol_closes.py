# SPDX-License-Identifier: BSD-2-Clause
"""A first byte that begins neither a login nor iWARP closes the connection at once, which is one line
of the log and one refusal with its count."""

import socket

from protocol import *


def test(daemon):
    crowd = []
    for first in (b"G", b"\x16", b"\x00", b"\x01", b"\x44", b"\xff", b"S", b"\x83"):
        crowd.append(socket.create_connection(daemon.target.portals[0], TIMEOUT))
        crowd[-1].sendall(first)
    for one in crowd:
        try:
            check(one.recv(1) == b"", "an answer")
        except ConnectionError:
            pass
        one.close()
    check(daemon.counter("logins_timed_out") == 0, "it was held until its time was over")
    mine, = daemon.refusals()
    check(mine["count"] == 8 and "not an iSCSI or iWARP connection" in mine["reason"], f"{mine}")
    check(daemon.log().count("not an iSCSI or iWARP connection") == 1, "more than one line")


main(test)
