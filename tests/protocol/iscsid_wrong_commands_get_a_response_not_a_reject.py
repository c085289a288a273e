# SPDX-License-Identifier: BSD-2-Clause
"""The kernel only logs a Reject and the command hangs: what is wrong with a CDB or a LUN is told
by CHECK CONDITION."""

from initiators import Iscsid
from protocol import *


def test(daemon):
    peer = daemon.session(kind=Iscsid)
    pdu = peer.send(peer.task(bytes([0xff]) + bytes(15)))
    peer.expect_status(pdu.itt, CHECK, (5, 0x20, 0))
    pdu = peer.send(peer.test_unit_ready(lun=lun(200)))
    peer.expect_status(pdu.itt, CHECK, (5, 0x25, 0))
    pdu = peer.send(peer.test_unit_ready(lun=b"\xc1" + bytes(7)))
    peer.expect_status(pdu.itt, CHECK, (5, 0x25, 0))
    pdu = peer.send(peer.read_task(0x7fffffff, 8))
    peer.expect_status(pdu.itt, CHECK, (5, 0x21, 0))
    check(daemon.counter("rejects_sent") == 0, "something was rejected")


main(test)
