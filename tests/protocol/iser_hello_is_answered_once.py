# SPDX-License-Identifier: BSD-2-Clause
"""Hello is answered with HelloReply, version 10 and the number of RDMA Reads; a second one closes."""

from iser import *


def test(daemon):
    peer = daemon.connect(IserPeer)
    hello = bytes((0x20, 0xaa, 0, 16)) + bytes(24)
    peer.send_bytes(peer.message(hello))
    reply = peer.recv_message()
    check(len(reply) == 28 and reply[:2] == b"\x30\xaa", reply.hex())
    check(0 < int.from_bytes(reply[2:4], "big") <= 128, reply.hex())
    peer.login()
    peer.ready()
    peer.send_bytes(peer.message(hello))
    peer.expect_closed("after a second Hello")


main(test)
