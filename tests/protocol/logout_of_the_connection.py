# SPDX-License-Identifier: BSD-2-Clause
"""Reason 1 with the connection's CID is as good; with another CID it is "CID not found", with
reason 2 "not supported", and the session continues."""

from protocol import *


def test(daemon):
    peer = daemon.session(cid=7)
    for fields, answer in (({"cid": 9, "flags": F | 1}, 1), ({"cid": 7, "flags": F | 2}, 2)):
        pdu = peer.send(peer.request(LOGOUT, **fields))
        peer.expect(LOGOUT_RSP, itt=pdu.itt, response=answer)
    pdu = peer.send(peer.request(LOGOUT, F | 9))
    peer.expect(REJECT)
    peer.cmd_sn = peer.exp_cmd_sn  # a rejected PDU counts as not received
    peer.good(peer.test_unit_ready())
    peer.logout(1, cid=7)


main(test)
