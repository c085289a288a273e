# SPDX-License-Identifier: BSD-2-Clause
"""A LUN that is added before the initiator has shown that it knows NOPs: the Async message comes
after its first NOP-Out, once."""

from protocol import *


def ping(peer):
    pdu = peer.send(peer.request(NOP_OUT, immediate=True, ttt=NONE))
    return pdu.itt


def test(daemon):
    peer = daemon.session()
    daemon.rpc("tree.run", command="create", path="/backstores/ramdisk", named={"name": "more",
                                                                   "size": "1M"})
    daemon.rpc("tree.run", command="create", path=daemon.tpg_path() + "/luns",
               named={"storage_object": "/backstores/ramdisk/more"})
    peer.ready()  # takes the unit attention: no message has come before it
    itt = ping(peer)
    told = peer.expect(ASYNC, itt=NONE, event=0)
    check(told.data[14:16] == b"\x3f\x0e", told.data.hex())
    peer.expect(NOP_IN, itt=itt)
    peer.expect(NOP_IN, itt=ping(peer))


main(test)
