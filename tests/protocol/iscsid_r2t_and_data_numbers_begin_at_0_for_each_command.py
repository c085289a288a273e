# SPDX-License-Identifier: BSD-2-Clause
"""R2TSN and DataSN count from 0 without gaps in every command, and no more R2Ts are out than
MaxOutstandingR2T allows."""

from initiators import Iscsid
from protocol import *


def test(daemon):
    keys = {"MaxBurstLength": "8192", "FirstBurstLength": "512", "InitialR2T": "Yes",
            "ImmediateData": "No", "MaxOutstandingR2T": "1"}
    peer = daemon.session(keys, Iscsid)
    data = pattern(65536)
    for _ in range(2):
        r2ts = peer.write(0, data)
        check([r.r2t_sn for r in r2ts] == list(range(8)), "R2TSNs are not 0 to 7")
    # One R2T at a time: the next comes only when the first is answered.
    pdu = peer.send(peer.write_task(0, 128, final=True))
    first = peer.expect(R2T, itt=pdu.itt, offset=0, desired=8192)
    peer.send(peer.request(NOP_OUT, immediate=True, ttt=NONE))
    peer.expect(NOP_IN)
    peer.send(*peer.solicited(first, data))
    peer.expect(R2T, itt=pdu.itt, offset=8192, desired=8192)


main(test)
