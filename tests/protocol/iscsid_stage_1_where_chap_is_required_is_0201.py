# SPDX-License-Identifier: BSD-2-Clause
"""An initiator that is not configured for CHAP and goes straight to the operational stage is
refused with "authentication failed", and the reason is kept."""

from initiators import Iscsid
from protocol import *


def test(daemon):
    peer = daemon.connect(Iscsid)
    peer.refused(0x0201, {**peer.names(), **peer.OPERATIONAL})
    entry = daemon.refusals()[0]
    check(entry["status"] == 0x0201 and "CHAP" in entry["reason"], f"refusal: {entry}")
    check(entry["initiator"] == peer.initiator, f"refusal: {entry}")


main(test, attributes={"authentication": 1},
     chap={"chap_userid": "user", "chap_password": "secret-of-12"})
