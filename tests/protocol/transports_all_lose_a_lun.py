# SPDX-License-Identifier: BSD-2-Clause
"""A LUN that is removed from its targets is told to sessions of all transports by a unit attention
on another; commands to it end with LOGICAL UNIT NOT SUPPORTED, and REPORT LUNS is without it."""

from transports import *

REPORT_LUNS = struct.pack(">B5xIxx", 0xa0, 64)


def test(daemon):
    peers = daemon.sessions_of_all()
    for path in daemon.paths("luns"):
        daemon.delete(path, lun="1", force=True)
    for peer in peers:
        peer.attention(0x3f, 0x0e)  # REPORTED LUNS DATA HAS CHANGED
        peer.fails((5, 0x25, 0), bytes(6), unit=1)
        check(peer.inquiry(unit=1)[0] == 0x7f, f"{peer.name}: INQUIRY names a device")
        check(peer.good(REPORT_LUNS, 64)[:4] == bytes((0, 0, 0, 8)), f"{peer.name}: REPORT LUNS")


main(test, luns=2)
