# SPDX-License-Identifier: BSD-2-Clause
"""TSIH names a session that must exist, in this portal group, with this ISID."""

from protocol import *


def test(daemon):
    daemon.connect(tsih=0x1234).refused(0x020a, )
    peer = daemon.session()
    other = daemon.connect(tsih=peer.tsih, isid=bytes.fromhex("80aabb0000ff"))
    other.refused(0x020a)
    peer.good(peer.test_unit_ready())


main(test)
