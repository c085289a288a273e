# SPDX-License-Identifier: BSD-2-Clause
"""The obsolete marker keys are answered No or Reject, never NotUnderstood (RFC 7143 13.25)."""

from protocol import *


def test(daemon):
    peer = daemon.connect()
    rsp = peer.login_step({**peer.names(), **peer.OPERATIONAL, "IFMarker": "No",
                           "OFMarker": "Yes", "IFMarkInt": "2048"})
    check(rsp.keys["IFMarker"] == "No", f"{rsp.keys}")
    check(rsp.keys["OFMarker"] in ("No", "Reject"), f"{rsp.keys}")
    check(rsp.keys["IFMarkInt"] in ("Reject", "Irrelevant"), f"{rsp.keys}")
    peer.ready()


main(test)
