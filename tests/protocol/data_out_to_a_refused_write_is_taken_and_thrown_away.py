# SPDX-License-Identifier: BSD-2-Clause
"""A write that cannot be done (beyond the end, wrong CDB, no such LUN) takes its unsolicited
data before the status, and the stream stays in step."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    wrong = [lambda: peer.write_task(0x7ffffff0, 16, final=False),
             lambda: peer.task(bytes([0xfe]), edtl=8192, flags=WRITE, final=False),
             lambda: peer.write_task(0, 16, final=False, lun=lun(99))]
    for make in wrong:
        pdu = make()
        peer.send(pdu, *peer.data_out(pdu, pattern(8192), 0, size=1000))
        peer.expect(RESPONSE, itt=pdu.itt, status=CHECK)
        peer.good(peer.test_unit_ready())
    pdu = peer.send(peer.write_task(0x7ffffff0, 16, data=pattern(8192)))
    peer.expect_status(pdu.itt, CHECK, (5, 0x21, 0))


main(test)
