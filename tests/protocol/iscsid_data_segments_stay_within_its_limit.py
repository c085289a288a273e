# SPDX-License-Identifier: BSD-2-Clause
"""A data segment above its MaxRecvDataSegmentLength fails the kernel's connection."""

from initiators import Iscsid
from protocol import *


def test(daemon):
    peer = daemon.session({"MaxRecvDataSegmentLength": "512"}, Iscsid)
    peer.write(0, pattern(65536))
    pdu = peer.send(peer.read_task(0, 128))
    data, end = peer.collect(pdu, 65536)  # the peer checks every PDU against its limit
    check(data == pattern(65536), "data differs")
    check(peer.max_recv == 512, "the limit was not in force")


main(test)
