# SPDX-License-Identifier: BSD-2-Clause
"""VPD page F0h says what REMOVE I_T NEXUS and logins guarantee, over each transport, and is listed in
page 00h."""

from removal import *

PAGE = b"\0\xf0\0\x10FARBLOCK\x07" + bytes(7)


def test(daemon):
    for peer in daemon.sessions_of_all():
        got = peer.inquiry(0xf0)[:20]
        check(got == PAGE, f"{peer.name}: {got.hex()}")
        pages = peer.inquiry(0)
        check(0xf0 in pages[4:4 + pages[3]], f"{peer.name}: pages {pages.hex()}")


main(test)
