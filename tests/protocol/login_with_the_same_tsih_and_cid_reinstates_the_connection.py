# SPDX-License-Identifier: BSD-2-Clause
"""The old connection is logged out by implication; the session keeps its handle."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    other = daemon.connect(tsih=peer.tsih, cid=0)
    other.login()
    check(other.tsih == peer.tsih, f"TSIH {other.tsih}, not {peer.tsih}")
    peer.expect_closed("when its connection was reinstated")
    other.ready()


main(test)
