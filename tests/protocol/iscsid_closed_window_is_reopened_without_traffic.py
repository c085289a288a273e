# SPDX-License-Identifier: BSD-2-Clause
"""Linux waits for ever for a window that opens without news: when aborts reopen it and no
response is due that would tell, a NOP-In does."""

from initiators import Iscsid
from protocol import *


def test(daemon):
    peer = daemon.session({"InitialR2T": "Yes", "ImmediateData": "No"}, Iscsid)
    writes = [peer.write_task(i, 1) for i in range(4)]
    peer.send(*writes)
    for pdu in writes:
        peer.expect(R2T, itt=pdu.itt)
    check(peer.max_cmd_sn == peer.exp_cmd_sn - 1, "the window of 4 is not closed by 4 writes")
    peer.send(peer.tmf(ABORT_TASK, writes[0]))
    told = []
    while not {TMF_RSP, NOP_IN} <= set(told):
        pdu = peer.recv()
        told.append(pdu.opcode)
        if pdu.opcode == TMF_RSP:
            check(pdu.response == 0, f"the abort ended with {pdu.response}")
        if pdu.max_cmd_sn == pdu.exp_cmd_sn:
            break
    check(peer.max_cmd_sn == peer.exp_cmd_sn, "the window is not open by one")
    pdu = peer.send(peer.test_unit_ready())
    while peer.recv().itt != pdu.itt:
        pass


main(test, attributes={"default_cmdsn_depth": 4})
