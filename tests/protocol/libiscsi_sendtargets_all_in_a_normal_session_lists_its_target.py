# SPDX-License-Identifier: BSD-2-Clause
"""Appendix C forbids All there, iscsi-test-cu demands it: it names the session's own target
only."""

from initiators import Libiscsi
from protocol import *


def test(daemon):
    peer = daemon.session(kind=Libiscsi)
    for which in ("All", "", daemon.target.iqn):
        answer, _ = peer.texts({"SendTargets": which})
        names = [value for key, value in pairs_of(answer) if key == "TargetName"]
        check(names == [daemon.target.iqn], f"SendTargets={which}: {names}")
    answer, _ = peer.texts({"SendTargets": daemon.target.iqn[:-1] + "0001"})
    check(b"TargetName" not in answer, "another target is shown in a normal session")


main(test, targets=2)
