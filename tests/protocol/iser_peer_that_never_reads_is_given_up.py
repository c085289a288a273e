# SPDX-License-Identifier: BSD-2-Clause
"""An initiator that pings without end and reads nothing is given up; memory stays bounded and others
are served."""

from iser import *


def test(daemon):
    other = daemon.session(kind=IserPeer, isid=bytes.fromhex("80aabb000002"))
    peer = daemon.session(kind=IserPeer)
    memory = daemon.memory()
    try:
        for _ in range(2000):
            peer.send(*[peer.request(NOP_OUT, immediate=True, ttt=NONE, data=bytes(64))
                        for _ in range(100)])
    except (ConnectionError, TimeoutError):
        pass
    other.write(0, pattern(65536))
    grown = daemon.memory() - memory
    check(grown < 32 * MIB, f"{grown >> 20} MiB kept for a peer that does not read")
    peer.close()


main(test)
