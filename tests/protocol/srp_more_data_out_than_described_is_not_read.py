# SPDX-License-Identifier: BSD-2-Clause
"""A write that needs more than its descriptors have: DOOVER with the difference, what they have is
written, and nothing beyond them is read."""

from srp import *


def test(daemon):
    peer = daemon.session()
    for at, out in enumerate((peer.direct(pattern(512)), peer.indirect([pattern(512)] * 2),
                              peer.indirect([pattern(512)] * 2, in_iu=0),
                              peer.immediate(pattern(512) * 2), NOTHING)):
        iu = peer.send(peer.command(cdb10(WRITE10, 8 * at, 8), out))
        rsp = peer.response(iu)
        check(rsp.flags == DOOVER and rsp.out_residual == 4096 - out.length, f"{rsp}")
        want = pattern(512) * (out.length // 512) + bytes(4096 - out.length)
        check(peer.read(8 * at, 8) == want, "what was written")


main(test)
