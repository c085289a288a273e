# SPDX-License-Identifier: BSD-2-Clause
"""Hello as a connection's first message is answered with HelloReply, version 10 and the number of
RDMA Reads; a second one, or one in full feature phase that no key has announced, closes."""

from iser import *


def test(daemon):
    for is_first in (True, False):
        peer = daemon.connect(IserPeer)
        if is_first:
            reply = peer.hello()
            check(len(reply) == 28 and reply[:2] == b"\x30\xaa", reply.hex())
            check(0 < int.from_bytes(reply[2:4], "big") <= 128, reply.hex())
        peer.login()
        peer.ready()
        peer.send_bytes(peer.message(HELLO))
        peer.expect_closed("after a Hello in full feature phase")


main(test)
