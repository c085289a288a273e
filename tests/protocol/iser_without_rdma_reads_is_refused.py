# SPDX-License-Identifier: BSD-2-Clause
"""An initiator that does not allow RDMA Reads (IRD 0) could write nothing: its connect is refused, with the
cause, rather than its first write after a timeout."""

import socket

from iser import *


def test(daemon):
    for ird in (0, 0x8000):  # 0x8000: peer to peer, which is no depth
        with socket.create_connection(daemon.target.portals[0], 20) as peer:
            peer.sendall(iser_raw.mpa_request(ird=ird))
            answer = peer.recv(4096)
            check(len(answer) >= 20 and answer[16] & iser_raw.REJECTED, f"not refused: {answer}")
        check("does not allow RDMA Reads" in daemon.refusals()[0]["reason"], f"{daemon.refusals()}")
    daemon.session(kind=IserPeer).write(0, pattern(65536))


main(test)
