# SPDX-License-Identifier: BSD-2-Clause
"""A session as iscsid sets it up out of the box: unsolicited data up to 256 KiB, bursts of 16
MiB."""

from initiators import Iscsid
from protocol import *


def test(daemon):
    peer = daemon.session(kind=Iscsid)
    for blocks in (1, 8, 511, 512, 513, 2048):
        data = pattern(blocks * BLOCK, blocks)
        peer.write(blocks, data)
        check(peer.read(blocks, blocks) == data, f"{blocks} blocks differ")
    peer.logout()


main(test)
