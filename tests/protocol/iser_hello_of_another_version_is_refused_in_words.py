# SPDX-License-Identifier: BSD-2-Clause
"""A Hello whose versions, the least to the most, do not have 10 among them is answered with a
HelloReply with REJ that names it; then the connection closes."""

from iser import *


def test(daemon):
    for is_due in (False, True):
        for versions, is_known in ((0x99, False), (0x91, False), (0xbb, False), (0xfb, False),
                                   (0xa0, True), (0xfa, True)):
            peer = daemon.connect(IserPeer)
            if is_due:
                peer.login({"iSERHelloRequired": "Yes"})
            reply = peer.hello(versions)
            check(reply[0] == 0x30 if is_known else reply[0] == 0x31, reply.hex())
            check(reply[1] == 0xaa, reply.hex())
            if is_known:
                peer.close()
            else:
                peer.expect_closed(f"after a Hello of versions {versions:#x}")


main(test)
