# SPDX-License-Identifier: BSD-2-Clause
"""With MaxOutstandingR2T=4 four R2Ts come at once, contiguous, and the next with each that is
done."""

from protocol import *


def test(daemon):
    peer = daemon.session({"MaxOutstandingR2T": "4", "InitialR2T": "Yes", "ImmediateData": "No",
                           "MaxBurstLength": "4096"})
    data = pattern(32768)
    pdu = peer.send(peer.write_task(0, 64))
    r2ts = [peer.expect(R2T, itt=pdu.itt, r2t_sn=i, offset=i * 4096, desired=4096)
            for i in range(4)]
    check(len({r.ttt for r in r2ts}) == 4, "tags are not different")
    ping = peer.send(peer.request(NOP_OUT, immediate=True, ttt=NONE))
    peer.expect(NOP_IN, "a fifth R2T", itt=ping.itt)
    for i in range(8):
        peer.send(*peer.solicited(r2ts[i], data, size=1024))
        if i < 4:
            r2ts.append(peer.expect(R2T, itt=pdu.itt, r2t_sn=i + 4, offset=(i + 4) * 4096))
    peer.expect_status(pdu.itt)
    check(peer.read(0, 64) == data, "read back differs")


main(test)
