# SPDX-License-Identifier: BSD-2-Clause
"""Wrong key, "Alle", "A" and wrong case are answered with Reject, never a list, nor a text, at which
libiscsi ends the connection; the session and its commands go on."""

from initiators import Libiscsi
from protocol import *


def test(daemon):
    peer = daemon.session(kind=Libiscsi)
    for key, value in (("SendTargetsPlease", "All"), ("SendTargets", "Alle"), ("SendTargets", "A"),
                       ("sENDtARGETS", "aLL"), ("SendTargets", "all")):
        pdu = peer.send(peer.request(TEXT, data=text({key: value}), ttt=NONE, immediate=True))
        rsp = peer.expect(REJECT, f"to {key}={value}", reason=4)
        check(rsp.data[:48] == bytes(pdu.bhs), "not the header that was rejected")
    answer, _ = peer.texts({"SendTargets": "All"})
    check(daemon.target.iqn.encode() in answer, f"{answer}")
    peer.good(peer.test_unit_ready())


main(test)
