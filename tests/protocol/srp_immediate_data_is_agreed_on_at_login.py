# SPDX-License-Identifier: BSD-2-Clause
"""Immediate data is supported if it was requested, with an offset behind the command and inside an
IU."""

from srp import *


def supported(daemon, **options):
    peer = daemon.session(**options)
    flags = peer.accepted.rsp_flags
    peer.logout()
    return bool(flags & IMMEDIATE_SUPPORTED)


def test(daemon):
    check(not supported(daemon, immediate=False), "supported though it was not requested")
    for offset, holds in ((0, False), (47, False), (48, True), (52, True), (68, True), (80, True),
                          (8260, False), (0xffff, False)):
        check(supported(daemon, login={"imm_offset": offset}) == holds, f"offset {offset}")


main(test)
