# SPDX-License-Identifier: BSD-2-Clause
"""A portal group that is switched off answers "service unavailable", and serves once it is on."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    daemon.rpc("tree.run", path=daemon.tpg_path(), command="disable")
    peer.expect_closed("when its portal group was disabled")
    try:
        peer = daemon.connect()
    except ConnectionRefusedError:
        return  # the portal itself is closed
    peer.refused(0x0301)
    daemon.rpc("tree.run", path=daemon.tpg_path(), command="enable")
    daemon.session()


main(test)
