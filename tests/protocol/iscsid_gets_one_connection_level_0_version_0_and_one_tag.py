# SPDX-License-Identifier: BSD-2-Clause
"""MaxConnections is answered 1, ErrorRecoveryLevel 0, both versions are 0 and
TargetPortalGroupTag comes once in the whole login."""

from initiators import Iscsid
from protocol import *


def test(daemon):
    peer = daemon.connect(Iscsid)
    first = peer.login_step({**peer.names(), "AuthMethod": "None"}, stage=0, next_stage=1)
    second = peer.login_step({**peer.OPERATIONAL, "MaxConnections": "8",
                              "ErrorRecoveryLevel": "2"})
    check(second.keys["MaxConnections"] == "1", "MaxConnections is not 1")
    check(second.keys["ErrorRecoveryLevel"] == "0", "ErrorRecoveryLevel is not 0")
    for rsp in (first, second):
        check(rsp.bhs[2] == rsp.bhs[3] == 0, "a version is not 0")
    tags = [v for rsp in (first, second) for k, v in pairs_of(rsp.data)
            if k == "TargetPortalGroupTag"]
    check(tags == ["1"], f"TargetPortalGroupTag: {tags}")


main(test)
