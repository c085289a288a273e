# SPDX-License-Identifier: BSD-2-Clause
"""SendTargets=All with a small MaxRecvDataSegmentLength: the pieces are continued, bounded and
complete; a new request in the middle drops the old answer."""

from protocol import *


def test(daemon):
    peer = daemon.connect()
    peer.login_step({**peer.names(True), "AuthMethod": "None"}, stage=0, next_stage=1)
    peer.login_step({"MaxRecvDataSegmentLength": "1024"})
    answer, count = peer.texts({"SendTargets": "All"})
    names = [value for key, value in pairs_of(answer) if key == "TargetName"]
    check(len(set(names)) == 1000, f"{len(names)} targets")
    check(count >= len(answer) // 1024, f"{count} PDUs")
    pdu = peer.send(peer.request(TEXT, data=text({"SendTargets": "All"}), ttt=NONE))
    rsp = peer.expect(TEXT_RSP, itt=pdu.itt)
    check(rsp.flags == 0x40 and len(rsp.data) == 1024, f"flags {rsp.flags:#x}")
    one, _ = peer.texts({"SendTargets": daemon.target.iqn})
    check(dict(pairs_of(one))["TargetName"] == daemon.target.iqn, f"{one}")
    peer.send(peer.request(TEXT, ttt=rsp.ttt, immediate=True))
    peer.expect(REJECT)
    peer.logout()


main(test, targets=1000, luns=0)
