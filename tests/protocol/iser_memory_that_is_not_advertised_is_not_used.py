# SPDX-License-Identifier: BSD-2-Clause
"""A write that advertises nothing for what is still to come fails; a read that has room for data and
advertises none ends the connection, since there is no place for the data."""

from iser import *


def test(daemon):
    peer = daemon.session(kind=IserPeer)
    pdu = peer.send(peer.write_task(0, 8, data=pattern(BLOCK)))
    rsp = peer.expect(RESPONSE, itt=pdu.itt)
    check(rsp.status == CHECK, f"{rsp}")
    check(peer.reads == 0, "an RDMA Read of nothing")
    peer.send(peer.read_task(0, 8))
    peer.expect_closed("after a read without memory")
    daemon.session(kind=IserPeer)


main(test)
