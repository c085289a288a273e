# SPDX-License-Identifier: BSD-2-Clause
"""Who aborts a write, or logs out, and then never answers the RDMA Read in flight holds its memory no
longer than one who answers none at all: until dataout_timeout."""

from iser import *


class Ponger(IserPeer):
    def pongs_until_closed(self):
        """Answers pings, and nothing else; what else came."""
        came, pings = [], 0
        while True:
            try:
                pdu = self.recv()
            except Closed:
                return came
            if pdu.opcode == NOP_IN and pdu.ttt != NONE:
                self.send(self.request(NOP_OUT, immediate=True, itt=NONE, ttt=pdu.ttt))
                pings += 1
                check(pings < 5, "pinged and kept")
            else:
                came.append(pdu.opcode)


def test(daemon):
    for end in (lambda peer, pdu: peer.tmf(ABORT_TASK, pdu),
                lambda peer, pdu: peer.request(LOGOUT, immediate=True)):
        peer = daemon.session(kind=Ponger)
        pdu = peer.held_write()
        peer.send(end(peer, pdu))
        check(not peer.pongs_until_closed(), "an answer, though the RDMA Read is not done")
        check(not daemon.sessions(), "the session is there still")


main(test, attributes={"dataout_timeout": 2})
