# SPDX-License-Identifier: BSD-2-Clause
"""The identity of a login is that of its first request."""

from protocol import *


def test(daemon):
    for change in ({"isid": b"\x80\1\2\3\4\5"}, {"tsih": 7}, {"cid": 7}):
        peer = daemon.connect()
        peer.login_step(peer.names(), stage=1, transit=False)
        peer.refused(0x0200, {}, **change)


main(test)
