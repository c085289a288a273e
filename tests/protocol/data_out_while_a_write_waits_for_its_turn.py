# SPDX-License-Identifier: BSD-2-Clause
"""Unsolicited data that comes before its command may run (a CmdSN is missing) is kept for it."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    data = pattern(65536)
    first = peer.test_unit_ready()
    pdu = peer.write_task(0, 128, data=data[:8192], final=False)
    peer.send(pdu, *peer.data_out(pdu, data[8192:], 8192, size=8192))
    ping = peer.send(peer.request(NOP_OUT, immediate=True, ttt=NONE))
    peer.expect(NOP_IN, "status before its turn", itt=ping.itt)
    peer.send(first)
    peer.expect_status(first.itt)
    peer.expect_status(pdu.itt)
    check(peer.read(0, 128) == data, "read back differs")


main(test)
