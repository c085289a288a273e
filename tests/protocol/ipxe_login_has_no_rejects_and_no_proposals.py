# SPDX-License-Identifier: BSD-2-Clause
"""Any value Reject ends iPXE's login, and it never answers a key that the target proposes."""

from initiators import Ipxe
from protocol import *


def test(daemon):
    peer = daemon.connect(Ipxe)
    peer.login()
    check(peer.agreed["AuthMethod"] == "None", "not let in without authentication")
    proposed = set(peer.agreed) - set(peer.said)
    check(proposed <= {"TargetPortalGroupTag", "TargetAlias"}, f"proposed: {proposed}")
    peer.ready()


main(test)
