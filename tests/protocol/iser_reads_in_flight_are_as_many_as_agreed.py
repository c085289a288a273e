# SPDX-License-Identifier: BSD-2-Clause
"""An initiator that answers 4 RDMA Reads at once is asked for 4 at once."""

from iser import *


class Four(IserPeer):
    def handshake(self, private):
        self.send_bytes(iser_raw.mpa_request(private, ird=4))
        head = self._read(20)
        self.reply_ord = int.from_bytes(self._read(head[19])[2:4], "big") & 0x3fff


def test(daemon):
    peer = daemon.session(kind=Four)
    check(peer.reply_ord == 4, f"ORD {peer.reply_ord}")
    peer.holds_reads = True
    peer.send(*[peer.write_from(peer.write_task(i * 8, 8), pattern(4096, i)) for i in range(16)])
    while len(peer.held_reads) < 4:
        peer.turn()
    pdu = peer.send(peer.request(NOP_OUT, immediate=True, ttt=NONE))
    peer.expect(NOP_IN, itt=pdu.itt)
    check(len(peer.held_reads) == 4, f"{len(peer.held_reads)} reads in flight")
    peer.holds_reads = False
    peer.serve_reads()
    for _ in range(16):
        check(peer.expect(RESPONSE).status == GOOD, "a write failed")


main(test)
