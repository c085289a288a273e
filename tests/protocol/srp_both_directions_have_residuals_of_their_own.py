# SPDX-License-Identifier: BSD-2-Clause
"""A command with descriptors of both directions uses those of its own; the other ones are left
over."""

from srp import *


def test(daemon):
    peer = daemon.session()
    peer.write(0, pattern(4096))
    for direct in (True, False):
        for cdb, residuals in ((cdb10(READ10, 0, 8), (1024, 512)),
                               (cdb10(WRITE10, 8, 1), (512, 4608))):
            out = peer.direct(bytes(1024)) if direct else peer.indirect([bytes(512)] * 2)
            room = peer.room([4096, 512]) if direct else peer.direct(bytes(4608), True)
            iu = peer.send(peer.command(cdb, out, room))
            rsp = peer.response(iu)
            check(rsp.flags == DOUNDER | DIUNDER, f"flags {rsp.flags:#x}")
            check((rsp.out_residual, rsp.in_residual) == residuals, f"{rsp}")
            check(cdb[0] == WRITE10 or room.bytes[:4096] == pattern(4096), "data-in")


main(test)
