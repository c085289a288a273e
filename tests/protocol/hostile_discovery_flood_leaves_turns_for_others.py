# SPDX-License-Identifier: BSD-2-Clause
"""A peer that asks for all targets a thousand times at once is answered one request at a time: a
ping of another session is answered before most of these answers have been made, which is told by
a target that is created after the ping's answer."""

from protocol import *

REQUESTS = 1000
BUFFERED = 500  # answers that the kernel may hold for a peer that does not read


def test(daemon):
    other = daemon.session(isid=bytes.fromhex("80aabb000002"))
    peer = daemon.connect()
    peer.login(discovery=True)
    pdus = [peer.request(TEXT, data=text({"SendTargets": "All"}), ttt=NONE, immediate=True)
            for _ in range(REQUESTS)]
    daemon.pause()
    peer.send(*pdus)
    ping = other.send(other.request(NOP_OUT, immediate=True, ttt=NONE))
    daemon.resume()
    other.expect(NOP_IN, itt=ping.itt)
    daemon.rpc("tree.run", command="create", path="/iscsi", named={"wwn": f"{farblock.IQN}:later"})
    daemon.rpc("tree.run", command="create", path=f"/iscsi/{farblock.IQN}:later/tpg1/portals",
               named={"ip_address": "127.0.0.1", "ip_port": str(daemon.target.port)})
    daemon.rpc("tree.run", command="set", path=f"/iscsi/{farblock.IQN}:later/tpg1",
               positional=["attribute"],
               named={"generate_node_acls": "1", "tpg_enabled_sendtargets": "0"})
    before = sum(b":later" not in peer.expect(TEXT_RSP, itt=pdu.itt).data for pdu in pdus)
    check(before < BUFFERED, f"{before} of {REQUESTS} answers were made before a ping's")


main(test, targets=300, luns=1)
