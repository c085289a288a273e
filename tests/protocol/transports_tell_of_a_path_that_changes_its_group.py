# SPDX-License-Identifier: BSD-2-Clause
"""A path that moves to another ALUA group is told of it: ASYMMETRIC ACCESS STATE CHANGED, and INQUIRY
DATA HAS CHANGED, as Linux reads VPD 83h again after that alone; paths that stay hear nothing."""

from transports import *

OF_PORT, GROUP = 1, 5


def group(peer):
    return int.from_bytes(peer.identity()[OF_PORT, GROUP][1], "big")


def test(daemon):
    *stay, srp = daemon.sessions_of_all()
    daemon.run_at(f"{DISK}/alua", "create", name="other", tag="7")
    daemon.set(f"{daemon.tpg_path()}/luns/lun0", "alua", alua_tg_pt_gp_name="other")
    for asc, ascq in ((0x2a, 6), (0x3f, 3)):
        srp.attention(asc, ascq)
    check(group(srp) == 7, f"the group is {group(srp)}")
    for peer in stay:
        peer.good(bytes(6))
        check(group(peer) == 0, f"{peer.name}: the group is {group(peer)}")


main(test)
