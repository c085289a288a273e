# SPDX-License-Identifier: BSD-2-Clause
"""Version-min 1 cannot be served; Version-max 1 with Version-min 0 can."""

from protocol import *


def test(daemon):
    peer = daemon.connect()
    peer.refused(0x0205, version_max=1, version_min=1)
    peer = daemon.connect()
    rsp = peer.login_step({**peer.names(), **peer.OPERATIONAL}, version_max=1)
    check(rsp.version_active == 0, "the active version is not 0")


main(test)
