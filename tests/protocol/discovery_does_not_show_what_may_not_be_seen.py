# SPDX-License-Identifier: BSD-2-Clause
"""With demo_mode_discovery=0 only initiators with an ACL find the target."""

from protocol import *


def test(daemon):
    for initiator, is_shown in ((INITIATOR, True), (INITIATOR + "2", False)):
        peer = daemon.connect(initiator=initiator)
        peer.login(discovery=True)
        for which in ("All", daemon.target.iqn):
            answer, _ = peer.texts({"SendTargets": which})
            check((daemon.target.iqn.encode() + b"\0Target" in answer) == is_shown,
                  f"{initiator} SendTargets={which}: {answer}")


main(test, acls=[acl()], attributes={"demo_mode_discovery": 0, "generate_node_acls": 0})
