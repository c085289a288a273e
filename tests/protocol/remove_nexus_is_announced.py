# SPDX-License-Identifier: BSD-2-Clause
"""VPD page F0h says what REMOVE I_T NEXUS and logins guarantee, over each transport, and is listed in
page 00h."""

from removal import *

PAGE = b"\0\xf0\0\x18FARBLOCK\x07" + bytes(7)


def test(daemon):
    ids = set()
    for peer in daemon.sessions_of_all():
        got = peer.inquiry(0xf0)
        check(got[:20] == PAGE, f"{peer.name}: {got.hex()}")
        ids.add(got[20:28])
        pages = peer.inquiry(0)
        check(0xf0 in pages[4:4 + pages[3]], f"{peer.name}: pages {pages.hex()}")
    check(len(ids) == 1 and bytes(8) not in ids, f"ids of the target: {ids}")


main(test)
