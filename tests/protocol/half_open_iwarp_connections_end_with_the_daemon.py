# SPDX-License-Identifier: BSD-2-Clause
"""Connections that have begun a request of iWARP and not finished it, at portals of SRP and of iSER,
do not outlive the daemon's end: nothing of them is left."""

import socket

from srp import *


def both(config, _):
    config.target(["/backstores/ramdisk/rd0"])


def accepted(daemon):
    stats = daemon.rpc("stats.get")
    return sum(stats[fabric]["connections_accepted"] for fabric in ("iscsi", "srpt"))


def test(daemon):
    request, sockets = mpa_request(login_request()), []
    for target in (daemon.target, *daemon.others):
        for i in range(1, 40, 3):
            sockets.append(socket.create_connection(target.portals[0], 20))
            sockets[-1].sendall(request[:i])
    eventually("all are accepted", lambda: accepted(daemon) >= len(sockets))
    check(daemon.stop() == 0, "it did not end with status 0")
    for half in sockets:
        half.close()
    daemon.start()


main(test, adapt=both)
