# SPDX-License-Identifier: BSD-2-Clause
"""Additional bytes of a CDB lie before the descriptors."""

from srp import *


def test(daemon):
    peer = daemon.session()
    data = pattern(4096)
    for size in (17, 20, 32, 260):
        cdb = (cdb10(WRITE10, 0, 8) + bytes(size))[:size]
        peer.run(cdb, peer.direct(data))
        iu = peer.send(peer.command(b"\x28" + cdb[1:], data_in=peer.direct(bytes(4096), True)))
        peer.response(iu)
        check(iu.data_in.bytes == data, f"CDB of {size} bytes: read back differs")


main(test)
