# SPDX-License-Identifier: BSD-2-Clause
"""iPXE tells the StatSN field of whatever PDU came last as acknowledged and copies ExpCmdSN: at
level 0 neither matters. Its login, reads and writes go through."""

from initiators import Ipxe
from protocol import *


def test(daemon):
    peer = daemon.session(kind=Ipxe)
    data = pattern(65536)
    peer.write(0, data)
    for blocks in (1, 16, 128):
        check(peer.read(0, blocks) == data[:blocks * BLOCK], f"{blocks} blocks differ")
    pdu = peer.send(peer.write_task(0, 1))
    peer.expect(R2T, itt=pdu.itt)
    check(peer.told_stat_sn != peer.exp_stat_sn, "the script tells right numbers")


main(test)
