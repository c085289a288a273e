# SPDX-License-Identifier: BSD-2-Clause
"""transport=rdma: the portal lets go of its TCP socket, which somebody else can have then, waits for
an RDMA device and says so, and goes back to TCP; sessions that are there go on."""

import socket

from iser import *


def test(daemon):
    host, port = daemon.target.portals[0]
    path = f"{daemon.tpg_path()}/portals/{host}:{port}"
    old = daemon.session()

    def transport(value):
        daemon.rpc("tree.run", path=path, command="transport", named={"transport": value})
        return daemon.rpc("tree.info", path=path)

    info = transport("rdma")
    check(info["transport"] == "rdma", f"{info}")
    check(info["state"] == "waiting" and "RDMA" in info["reason"], f"{info}")
    check(not info["reason"].startswith(host), f"the address twice: {info}")
    try:
        socket.create_connection((host, port)).close()
    except ConnectionRefusedError:
        pass
    else:
        raise Failure("something listens on TCP")
    old.ready()  # a change of the target is told to its sessions
    with socket.socket() as somebody:
        somebody.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        somebody.bind((host, port))
        somebody.listen()
        info = transport("iser")
        check(info["state"] == "waiting" and "port is in use" in info["reason"], f"{info}")
    info = transport("rdma")
    check("RDMA" in info["reason"], f"{info}")
    info = transport("all")
    check(info["state"] == "listening", f"{info}")
    daemon.session(isid=bytes.fromhex("80aabb000002"))
    daemon.session(kind=IserPeer, isid=bytes.fromhex("80aabb000003"))


main(test)
