# SPDX-License-Identifier: BSD-2-Clause
"""Answered with ExpCmdSN, Time2Wait and Time2Retain, then closed; the session is gone at once."""

from protocol import *


def test(daemon):
    for immediate in (True, False):
        peer = daemon.session()
        rsp = peer.logout(immediate=immediate)
        check((rsp.time2wait, rsp.time2retain) == (2, 0), f"{rsp.time2wait} {rsp.time2retain}")
        check(daemon.sessions() == [], "the session is still there")


main(test)
