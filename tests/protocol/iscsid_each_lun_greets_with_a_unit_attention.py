# SPDX-License-Identifier: BSD-2-Clause
"""The first command to every logical unit of a new nexus meets POWER ON OCCURRED, once."""

from initiators import Iscsid
from protocol import *


def test(daemon):
    peer = daemon.connect(Iscsid)
    peer.login()
    for number in range(4):
        pdu = peer.send(peer.test_unit_ready(lun=lun(number)))
        rsp = peer.expect(RESPONSE, itt=pdu.itt, status=CHECK)
        check(rsp.sense[:2] == (6, 0x29), f"LUN {number}: sense {rsp.sense}")
        peer.good(peer.test_unit_ready(lun=lun(number)), f"LUN {number}")


main(test, luns=4)
