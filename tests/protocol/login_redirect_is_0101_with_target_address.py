# SPDX-License-Identifier: BSD-2-Clause
"""A portal group with redirect sends logins away; discovery still finds it."""

from protocol import *


def test(daemon):
    peer = daemon.connect()
    rsp = peer.refused(0x0101)
    check(rsp.keys == {"TargetAddress": "192.0.2.9:860"}, f"{rsp.keys}")
    peer = daemon.connect()
    peer.login(discovery=True)
    answer, _ = peer.texts({"SendTargets": "All"})
    check(daemon.target.iqn.encode() in answer, "not found any more")


main(test, attributes={"redirect": "192.0.2.9:860"})
