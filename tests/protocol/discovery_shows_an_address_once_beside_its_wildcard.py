# SPDX-License-Identifier: BSD-2-Clause
"""A portal beside the wildcard portal of its port, one of which waits for the other: a peer is
shown the address once."""

from protocol import *

PORT = farblock.free_port()


def test(daemon):
    daemon.rpc("tree.run", command="create", path=f"{daemon.tpg_path()}/portals",
               named={"ip_address": "127.0.0.1", "ip_port": str(PORT)})
    daemon.target.portals = [("127.0.0.1", PORT)]
    peer = daemon.connect()
    peer.login(discovery=True)
    answer, _ = peer.texts({"SendTargets": "All"})
    told = [value for key, value in pairs_of(answer) if key == "TargetAddress"]
    check(told == [f"127.0.0.1:{PORT},1"], f"{told}")


main(test, portals=[("0.0.0.0", PORT)])
