# SPDX-License-Identifier: BSD-2-Clause
"""A last Data-Out without data carries the F; status does not come before an unsolicited burst
has its end."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    data = pattern(1024)
    pdu = peer.write_task(0, 2, data=data[:512], final=False)
    peer.send(pdu, *peer.data_out(pdu, data[512:], 512, final=False))
    ping = peer.send(peer.request(NOP_OUT, immediate=True, ttt=NONE))
    peer.expect(NOP_IN, "status before F", itt=ping.itt)
    end = peer.data_out(pdu, b"x", 1024)[0]
    end.data = b""
    end.bhs[5:8] = bytes(3)
    peer.send(end.put("data_sn", 1))
    peer.expect_status(pdu.itt)
    check(peer.read(0, 2) == data, "read back differs")


main(test)
