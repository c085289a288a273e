# SPDX-License-Identifier: BSD-2-Clause
"""A target tag that no R2T has, or none where data is solicited, fails the write."""

from protocol import *


def test(daemon):
    for ttt in (NONE, 0x5a5a5a5a):
        peer = daemon.session({"InitialR2T": "Yes", "ImmediateData": "No"})
        pdu = peer.send(peer.write_task(0, 8))
        r2t = peer.expect(R2T, itt=pdu.itt)
        peer.send(*[part.put("ttt", ttt) for part in peer.solicited(r2t, pattern(4096))])
        peer.send(*peer.solicited(r2t, pattern(4096, 2)))  # the sequence that is owed
        rsp = peer.expect(RESPONSE, itt=pdu.itt, status=CHECK)
        check(rsp.sense in ((0xb, 0xc, 0xc), (0xb, 0xc, 0xd)), f"sense {rsp.sense}")
        check(peer.read(0, 8) == bytes(4096), "the medium has changed")
        peer.close()


main(test)
