# SPDX-License-Identifier: BSD-2-Clause
"""One connection a session: another CID with the session's TSIH is "too many connections", and
the session goes on."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    other = daemon.connect(tsih=peer.tsih, cid=1)
    other.refused(0x0206)
    peer.good(peer.test_unit_ready())


main(test)
