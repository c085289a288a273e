# SPDX-License-Identifier: BSD-2-Clause
"""iPXE splits TargetAddress at the first colon: host:port, no brackets, no portal group tag."""

from initiators import Ipxe
from protocol import *


def test(daemon):
    peer = daemon.connect(Ipxe)
    rsp = peer.login_request({**peer.names(), "AuthMethod": "CHAP,None"}, stage=0, next_stage=1)
    check(rsp.login_status == 0x0101, f"status {rsp.login_status:04x}")
    check(rsp.keys["TargetAddress"] == "192.0.2.7:3261", rsp.keys["TargetAddress"])
    peer.expect_closed("after a redirect")
    check(daemon.refusals()[0]["status"] == 0x0101, "the redirect is not on record")


main(test, attributes={"redirect": "192.0.2.7:3261"})
