# SPDX-License-Identifier: BSD-2-Clause
"""A LUN that is added is told: Async event 0 with 3F/0E to initiators that know NOPs, and the
unit attention to all."""

from initiators import Ipxe
from protocol import *


def test(daemon):
    peer = daemon.session()
    quiet = daemon.session(isid=bytes.fromhex("80aabb000002"), kind=Ipxe)
    pdu = peer.send(peer.request(NOP_OUT, immediate=True, ttt=NONE))
    peer.expect(NOP_IN, itt=pdu.itt)
    daemon.rpc("tree.run", command="create", path="/backstores/ramdisk", named={"name": "more",
                                                                   "size": "1M"})
    daemon.rpc("tree.run", command="create", path=daemon.tpg_path() + "/luns",
               named={"storage_object": "/backstores/ramdisk/more"})
    told = peer.expect(ASYNC, itt=NONE, event=0)
    length = int.from_bytes(told.data[:2], "big")
    check(told.data[4] & 0xf == 6 and told.data[14:16] == b"\x3f\x0e", told.data[:length].hex())
    for one in (peer, quiet):
        pdu = one.send(one.test_unit_ready())
        one.expect_status(pdu.itt, CHECK, (6, 0x3f, 0xe))
        one.ready()
    new = peer.send(peer.test_unit_ready(lun=lun(1)))
    peer.expect(RESPONSE, itt=new.itt)


main(test)
