# SPDX-License-Identifier: BSD-2-Clause
"""A target without portals, or whose portals all wait, is not listed, by its name neither; one with
two portals is listed with the one that listens, and with the other when that listens too."""

import socket

from protocol import *

BUSY = socket.create_server(("127.0.0.1", farblock.free_port()))
NONE_THERE, WAITS, HALF = (f"{farblock.IQN}:t{n:04}" for n in (1, 2, 3))


def portal(port):
    return {"ip_address": "127.0.0.1", "port": port, "iser": False, "offload": False}


def adapt(config, scratch):
    busy = BUSY.getsockname()[1]
    first = config.targets[0]["tpgs"][0]["portals"][0]
    for target, portals in zip(config.targets[1:], ([], [portal(busy)], [portal(busy), first])):
        target["tpgs"][0]["portals"] = portals


def listed(peer, which="All"):
    found = {}
    for key, value in pairs_of(peer.texts({"SendTargets": which})[0]):
        if key == "TargetName":
            found[value] = addresses = []
        else:
            addresses.append(value)
    return found


def test(daemon):
    peer = daemon.connect().login(discovery=True)
    first = f"127.0.0.1:{daemon.target.port},1"
    later = f"127.0.0.1:{BUSY.getsockname()[1]},1"
    found = listed(peer)
    check(found == {daemon.target.iqn: [first], HALF: [first]}, f"{found}")
    for which in (NONE_THERE, WAITS):
        check(listed(peer, which) == {}, f"{which} is listed")
    BUSY.close()
    eventually("the portal listens", lambda: WAITS in listed(daemon.connect().login(discovery=True)))
    found = listed(daemon.connect().login(discovery=True), HALF)
    check(sorted(found[HALF]) == sorted((first, later)), f"{found}")


main(test, targets=4, adapt=adapt)
