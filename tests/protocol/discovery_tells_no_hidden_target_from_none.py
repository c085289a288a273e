# SPDX-License-Identifier: BSD-2-Clause
"""Asked for by its name, a target that may not be seen has the same answer as one that is not
there."""

from protocol import *


def test(daemon):
    peer = daemon.connect(initiator=INITIATOR + "2").login(discovery=True)
    hidden, _ = peer.texts({"SendTargets": daemon.target.iqn})
    missing, _ = peer.texts({"SendTargets": f"{farblock.IQN}:none"})
    check(hidden == missing == b"", f"{hidden} and {missing}")


main(test, acls=[acl()], attributes={"demo_mode_discovery": 0, "generate_node_acls": 0})
