# SPDX-License-Identifier: BSD-2-Clause
"""They are bounded in memory, an existing session continues, a new one is served, and all
are gone when their time (15 s, as they name no target) is over."""

import socket

from protocol import *


def test(daemon):
    keeper = daemon.session(isid=bytes.fromhex("80aabb000002"))
    memory, files = daemon.memory(), daemon.descriptors()
    crowd = []
    for _ in range(1000):
        crowd.append(socket.create_connection(daemon.target.portals[0], 20))
    keeper.write_and_read_back(0, pattern(65536))
    daemon.session().logout()
    grown = daemon.memory() - memory
    check(grown < 96 * MIB, f"{grown >> 20} MiB for 1000 connections that say nothing")
    keeper.timeout = 30
    for one in crowd:
        one.settimeout(30)
        try:
            check(one.recv(1) == b"", "an answer to nothing")
        except ConnectionError:
            pass
        one.close()
    keeper.good(keeper.test_unit_ready())
    check(daemon.descriptors() <= files + 4, "descriptors are left")
    check(daemon.counter("logins_timed_out") >= 1000, "not counted")


main(test, attributes={"nopin_timeout": 60})
