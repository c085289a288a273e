# SPDX-License-Identifier: BSD-2-Clause
"""With iSERHelloRequired=Yes the first message of full feature phase is Hello, which is answered and
then answered no more; anything else there closes."""

from iser import *


def required(daemon):
    peer = daemon.connect(IserPeer)
    return peer.login({"iSERHelloRequired": "Yes"})


def test(daemon):
    peer = required(daemon)
    reply = peer.hello()
    check(reply[:2] == b"\x30\xaa", reply.hex())
    peer.ready()
    peer.send_bytes(peer.message(HELLO))
    peer.expect_closed("after a second Hello")
    peer = required(daemon)
    peer.send(peer.request(NOP_OUT, immediate=True, ttt=NONE))
    peer.expect_closed("after a PDU before the Hello")


main(test)
