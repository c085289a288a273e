# SPDX-License-Identifier: BSD-2-Clause
"""A channel sees the LUNs of its nexus, which the ACL of the first one has decided: one that
another ACL would admit does not join."""

from srp import *

# Its ACL is that of an address.
STRANGER = "ib.0002c903000c00010002c903000c0002"


def test(daemon):
    peer = daemon.session(initiator=STRANGER, flags=MULTI)
    daemon.rejected(NO_PORT, initiator=STRANGER, flags=MULTI, source="127.0.0.2")
    daemon.rpc("tree.run", command="create", path=f"{daemon.tpg_path()}/acls",
               positional=["127.0.0.3"], named={})
    daemon.rejected(NO_MULTI, "another ACL", initiator=STRANGER, flags=MULTI, source="127.0.0.3")
    daemon.session(initiator=STRANGER, flags=MULTI).expect_alive()
    peer.expect_alive()


main(test, acls=("127.0.0.1",))
