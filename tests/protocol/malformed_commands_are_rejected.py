# SPDX-License-Identifier: BSD-2-Clause
"""F=0 without W, the reserved tag, data where none belongs: Reject with the header; the CmdSN
counts as not received."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    bad = [peer.request(COMMAND, READ | SIMPLE, cmd_sn=peer.cmd_sn),
           peer.request(COMMAND, itt=NONE, cmd_sn=peer.cmd_sn),
           peer.request(TMF, F | LU_RESET, data=b"data", cmd_sn=peer.cmd_sn),
           peer.request(LOGOUT, data=b"data", cmd_sn=peer.cmd_sn),
           peer.request(TEXT, F | 0x40, data=b"a=b\0", cmd_sn=peer.cmd_sn),
           peer.request(TEXT, itt=NONE, cmd_sn=peer.cmd_sn)]
    for pdu in bad:
        peer.send(pdu)
        reject = peer.expect(REJECT)
        check(reject.data == bytes(pdu.bhs), "another header came back")
        check(reject.exp_cmd_sn == peer.cmd_sn, "a rejected PDU has taken a CmdSN")
    peer.good(peer.test_unit_ready())


main(test)
