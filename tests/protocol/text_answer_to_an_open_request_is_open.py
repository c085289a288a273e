# SPDX-License-Identifier: BSD-2-Clause
"""F=1 in answer to F=0 is a protocol error (RFC 7143 11.11.1): the target gives a tag and waits
for the initiator to finish."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    itt = peer.next_itt()
    peer.send(peer.request(TEXT, 0, data=text({"SendTargets": "All"}), itt=itt, ttt=NONE))
    rsp = peer.expect(TEXT_RSP, itt=itt)
    check(not rsp.flags & 0x80 and rsp.ttt != NONE, "F in answer to an open request")
    check("TargetName" in rsp.keys, f"{rsp.keys}")
    peer.send(peer.request(TEXT, itt=itt, ttt=rsp.ttt))
    rsp = peer.expect(TEXT_RSP, itt=itt, flags=0x80, ttt=NONE)
    check(not rsp.data, "something was left to say")


main(test)
