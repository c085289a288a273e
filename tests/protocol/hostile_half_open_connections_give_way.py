# SPDX-License-Identifier: BSD-2-Clause
"""When all logins in progress are taken, the oldest one that has said nothing of the address with
the most of them gives way: newcomers get in during a flood, and a slow login from another
address is not touched. Those that have said something and wait give way too, and are told."""

import socket

from protocol import *

PLACES = 1024  # logins in progress of a worker


def half_open(daemon, count):
    return [socket.create_connection(daemon.target.portals[0], 20) for _ in range(count)]


def is_closed(one):
    one.settimeout(20)
    try:
        return one.recv(1) == b""
    except ConnectionError:
        return True


def silent_flood(daemon):
    silent = daemon.connect(source="127.0.0.2", isid=bytes.fromhex("80aabb000002"))
    crowd = half_open(daemon, PLACES - 1)
    spoken = daemon.connect(isid=bytes.fromhex("80aabb000003"))  # one of the crowd's address
    spoken.login_step(spoken.names(), stage=1, transit=False)
    for n in range(4):
        daemon.session(isid=bytes([0x80, 0, 0, 0, 1, n])).logout()
    crowd += half_open(daemon, 300)
    check(all(is_closed(one) for one in crowd[:300]), "the oldest are still there")
    spoken.login_step(spoken.OPERATIONAL)
    mine = [r for r in daemon.refusals() if "a silent one" in r["reason"]]
    check(sum(r["count"] for r in mine) == daemon.counter("logins_displaced") >= 300, f"{mine}")
    # On a slow machine the silent one may have run out of time meanwhile, which is not giving way.
    check(all(r["peer"].startswith("127.0.0.1:") for r in mine), f"{mine}, not {silent}")
    silent.socket.close()
    for one in crowd:
        one.close()


def spoken_flood(daemon):
    crowd = [daemon.connect() for _ in range(PLACES)]
    for n, one in enumerate(crowd):
        one.login_step(one.names(), stage=1, transit=False)
    # All of them have just made progress, but their address has more than its share.
    daemon.session(source="127.0.0.2", isid=bytes.fromhex("80aabb000004"))
    rsp = crowd[0].expect(LOGIN_RSP, login_status=0x0302)
    check(not rsp.data, "a text with a refusal")
    crowd[0].expect_closed()
    crowd[1].login_step(crowd[1].OPERATIONAL)


def test(daemon):
    silent_flood(daemon)
    spoken_flood(daemon)


main(test, attributes={"login_timeout": 30})
