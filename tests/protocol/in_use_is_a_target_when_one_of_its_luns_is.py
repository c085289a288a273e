# SPDX-License-Identifier: BSD-2-Clause
"""ACL, portal, portal group and target are in use by a session that uses one of their LUNs, and
not by one that is merely logged in."""

from protocol import *

OTHER = INITIATOR + "2"


def test(daemon):
    tpg, target = daemon.tpg_path(), f"/iscsi/{daemon.target.iqn}"
    host, port = daemon.target.portals[0]
    all_of_it = ((f"{tpg}/acls", {"wwn": INITIATOR}),
                 (f"{tpg}/portals", {"ip_address": host, "ip_port": str(port)}),
                 (target, {"tag": "1"}), ("/iscsi", {"wwn": daemon.target.iqn}))
    user = daemon.session()
    idle = daemon.session(initiator=OTHER)
    user.read(0, 1)
    for path, params in all_of_it:
        daemon.refuse_delete(path, **params)
    daemon.delete(f"{tpg}/acls", wwn=OTHER)
    eventually("only the user is left", lambda: len(daemon.sessions()) == 1)
    idle.close()
    user.logout()
    new = daemon.session()
    daemon.delete("/iscsi", wwn=daemon.target.iqn)
    eventually("no session is left", lambda: not daemon.sessions())
    new.close()


main(test, acls=[acl(), acl(OTHER)], attributes={"generate_node_acls": 0})
