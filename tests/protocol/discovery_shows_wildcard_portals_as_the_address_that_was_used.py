# SPDX-License-Identifier: BSD-2-Clause
"""0.0.0.0 is told as the address the request came in on, for each of two portals its port."""

from protocol import *


PORTS = [farblock.free_port(), farblock.free_port()]


def test(daemon):
    daemon.target.portals = [("127.0.0.1", port) for port in PORTS]
    peer = daemon.connect(portal=1)
    peer.login(discovery=True)
    answer, _ = peer.texts({"SendTargets": "All"})
    told = sorted(value for key, value in pairs_of(answer) if key == "TargetAddress")
    check(told == sorted(f"127.0.0.1:{port},1" for port in PORTS), f"{told}")
    daemon.session(portal=1)


main(test, portals=[("0.0.0.0", port) for port in PORTS])
