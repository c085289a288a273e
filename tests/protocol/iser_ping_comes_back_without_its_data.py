# SPDX-License-Identifier: BSD-2-Clause
"""A NOP-Out with data is answered without: initiators expect none over iSER."""

from iser import *


def test(daemon):
    peer = daemon.session(kind=IserPeer)
    for size in (0, 4, 100, 4096):
        pdu = peer.send(peer.request(NOP_OUT, ttt=NONE, data=bytes(size)))
        peer.expect(NOP_IN, itt=pdu.itt, ttt=NONE)


main(test)
