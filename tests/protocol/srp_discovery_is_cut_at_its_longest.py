# SPDX-License-Identifier: BSD-2-Clause
"""Of more targets than a page has room for the list has as many as fit, in order, and says that there
are more; it is made in parts, with a session beside it."""

from srp import *

ENTRY = len("ib. 127.0.0.1:65535") + 33  # bytes at most


def test(daemon):
    other = daemon.session()
    peer = daemon.discovery()
    page = peer.page()
    check(page[13] == 1 and LIST_MAX - ENTRY < len(page) <= LIST_MAX, f"{len(page)} bytes")
    names = sorted(target.iqn for target in (daemon.target, *daemon.others))
    found = list(peer.targets())
    check(found == names[:len(found)] and len(found) > 1000, f"{len(found)} targets")
    other.expect_alive()


protocol.main(test, make=make_many, kind=SrpDaemon, count=1500)
