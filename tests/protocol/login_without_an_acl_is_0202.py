# SPDX-License-Identifier: BSD-2-Clause
"""With generate_node_acls=0 a name that has no ACL is refused "authorization failure"; one that
has gets in, whatever case it writes its name in."""

from protocol import *


def test(daemon):
    peer = daemon.connect(initiator="iqn.2025-01.org.example:stranger")
    peer.refused(0x0202)
    entry = daemon.refusals()[0]
    check("ACL" in entry["reason"] and entry["status"] == 0x0202, f"{entry}")
    daemon.session(initiator=INITIATOR.upper().replace("IQN", "iqn")).write(0, pattern(512))
    check(daemon.counter("failed_acl") == 1, "not counted")


main(test, attributes={"generate_node_acls": 0}, acls=[acl()])
