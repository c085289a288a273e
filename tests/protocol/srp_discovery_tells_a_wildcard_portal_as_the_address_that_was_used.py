# SPDX-License-Identifier: BSD-2-Clause
"""0.0.0.0 is told as the address that the connection came to, a portal of that address once; a
portal for RDMA devices alone is not told over software iWARP."""

from srp import *

PORTS = [farblock.free_port() for _ in range(3)]


def adapt(config, _):
    config.targets[0]["tpgs"][0]["srp_portals"] = [
        {"ip_address": "0.0.0.0", "port": PORTS[0]}, {"ip_address": "127.0.0.1", "port": PORTS[1]},
        {"ip_address": "127.0.0.1", "port": PORTS[2], "transport": "rdma"}]


def test(daemon):
    daemon.target.portals = [("127.0.0.1", PORTS[0])]
    for host in ("127.0.0.1", "127.0.0.9"):
        daemon.target.portals = [(host, PORTS[0])]
        found = daemon.discovery().targets()
        check(sorted(found[daemon.target.iqn]) ==
              sorted([f"{host}:{PORTS[0]}", f"127.0.0.1:{PORTS[1]}"]), f"{found}")


main(test, adapt=adapt)
