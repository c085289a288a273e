# SPDX-License-Identifier: BSD-2-Clause
"""ib_srp posts its receive buffers with the first IU that it sends: before that a channel gets
none, whatever happens to its LUNs."""

from srp import *


def test(daemon):
    peer, other = daemon.connect(), daemon.session(initiator=OTHER)
    daemon.delete(f"{daemon.tpg_path()}/luns", lun="1")
    other.send(other.task_mgmt(LUN_RESET))
    other.expect(RSP)
    other.ready()
    peer.socket.settimeout(0)
    try:
        check(not peer.socket.recv(1), "something came, or the close")
    except BlockingIOError:
        pass
    peer.ready()


main(test, luns=2)
