# SPDX-License-Identifier: BSD-2-Clause
"""A portal listens on the RDMA devices that have its address; where there is none it says that it
waits for one, and is reached by TCP and software iWARP meanwhile. Without iSER it asks for none."""

import os

from iser import *


def test(daemon):
    path = "{}/portals/{}:{}".format(daemon.tpg_path(), *daemon.target.portals[0])
    info = daemon.rpc("tree.info", path=path)
    check(info["state"] == "listening", f"{info}")
    if not os.path.isdir("/sys/class/infiniband") or not os.listdir("/sys/class/infiniband"):
        check(info["rdma_devices"] == "waiting" and info["rdma_reason"], f"{info}")
    daemon.session(kind=IserPeer)
    daemon.rpc("tree.run", path=path, command="enable_iser", named={"boolean": "false"})
    check("rdma_devices" not in daemon.rpc("tree.info", path=path), "it still waits for a device")


main(test)
