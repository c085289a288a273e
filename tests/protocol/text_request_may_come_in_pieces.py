# SPDX-License-Identifier: BSD-2-Clause
"""With C a Text Request continues; empty answers with a target tag ask for the rest."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    itt, ttt = peer.next_itt(), NONE
    whole = text({"SendTargets": "All", "X-a": "1"})
    for at in range(0, 14, 7):
        peer.send(peer.request(TEXT, 0x40, data=whole[at:at + 7], itt=itt, ttt=ttt))
        rsp = peer.expect(TEXT_RSP, itt=itt)
        check(not rsp.flags & 0xc0 and not rsp.data and rsp.ttt != NONE, "not asked for more")
        ttt = rsp.ttt
    peer.send(peer.request(TEXT, data=whole[14:], itt=itt, ttt=ttt))
    rsp = peer.expect(TEXT_RSP, itt=itt, flags=0x80, ttt=NONE)
    check(rsp.keys["TargetName"] == daemon.target.iqn, f"{rsp.keys}")
    check(rsp.keys["X-a"] == "NotUnderstood", f"{rsp.keys}")


main(test)
