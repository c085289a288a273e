# SPDX-License-Identifier: BSD-2-Clause
"""A portal whose port a wildcard portal of ours has, or the other way round, waits and says whose
port it is; its address stands once in what is said; it listens when the other is gone."""

from protocol import *

PORT = farblock.free_port()


def reason(daemon, name):
    node = daemon.rpc("tree.info", path=f"{daemon.tpg_path()}/portals/{name}")
    return node.get("state"), node.get("reason", "")


def test(daemon):
    portals = f"{daemon.tpg_path()}/portals"
    wildcard, one = f"0.0.0.0:{PORT}", f"127.0.0.1:{PORT}"
    said = daemon.rpc("tree.run", command="create", path=portals,
                      named={"ip_address": "127.0.0.1", "ip_port": str(PORT)})
    state, why = reason(daemon, one)
    check(state == "waiting" and f"portal {wildcard} already listens" in why, f"{state}: {why}")
    check(one not in why, f"the address is said again: {why}")
    check(why in str(said["messages"]), f"create says {said['messages']}")
    line = [text for text in daemon.log().splitlines() if f"portal {one}" in text][-1]
    check(line.count(one) == 1, f"log: {line}")
    daemon.rpc("tree.run", command="delete", path=portals,
               named={"ip_address": "0.0.0.0", "ip_port": str(PORT)})
    eventually("the portal listens", lambda: reason(daemon, one)[0] == "listening")
    daemon.rpc("tree.run", command="create", path=portals,
               named={"ip_address": "0.0.0.0", "ip_port": str(PORT)})
    state, why = reason(daemon, wildcard)
    check(state == "waiting" and f"portal {one} already listens" in why, f"{state}: {why}")


main(test, portals=[("0.0.0.0", PORT)])
