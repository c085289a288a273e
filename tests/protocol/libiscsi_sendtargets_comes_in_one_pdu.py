# SPDX-License-Identifier: BSD-2-Clause
"""libiscsi reads one Text Response with F and nothing else (flags 80), and only TargetName and
TargetAddress in it."""

from initiators import Libiscsi
from protocol import *


def test(daemon):
    peer = daemon.connect(Libiscsi)
    peer.login(discovery=True)
    pdu = peer.send(peer.request(TEXT, data=text({"SendTargets": "All"}), ttt=NONE))
    rsp = peer.expect(TEXT_RSP, itt=pdu.itt, flags=0x80, ttt=NONE)
    names = [key for key, _ in pairs_of(rsp.data)]
    check(set(names) == {"TargetName", "TargetAddress"}, f"keys: {names}")
    check(names.count("TargetName") == 500, f"{names.count('TargetName')} targets of 500")
    peer.logout()


main(test, targets=500, luns=0)
