# SPDX-License-Identifier: BSD-2-Clause
"""Where the login asked for it, changes of LUNs are reported by AER_REQ, one at a time: the next
one follows the answer. Who did not ask gets none."""

from srp import *

ASKS = 0x40  # of req_flags


def test(daemon):
    silent = daemon.session(initiator=OTHER)
    peer = daemon.session(flags=ASKS)
    peer.answers = False
    for unit in (3, 2):
        daemon.delete(f"{daemon.tpg_path()}/luns", lun=str(unit))
        event = peer.expect(AER_REQ)
        check(event.sense == (6, 0x3f, 0x0e), f"{event.sense}")
        daemon.delete(f"{daemon.tpg_path()}/luns", lun=str(unit - 2))
        iu = peer.send(peer.command(b"\x12\0\0\0\x24", data_in=peer.direct(bytes(36), True)))
        peer.response(iu, why="before AER_REQ was answered")
        peer.answer(event)
        peer.answer(peer.expect(AER_REQ))
    iu = silent.send(silent.command(b"\x12\0\0\0\x24", data_in=silent.direct(bytes(36), True)))
    silent.response(iu, why="of who did not ask for events")


main(test, luns=4)
