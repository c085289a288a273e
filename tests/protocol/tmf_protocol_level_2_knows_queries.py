# SPDX-License-Identifier: BSD-2-Clause
"""With iSCSIProtocolLevel=2 QUERY TASK tells whether a task is there (RFC 7144)."""

from protocol import *


def test(daemon):
    peer = daemon.session({"iSCSIProtocolLevel": "2", "InitialR2T": "Yes",
                           "ImmediateData": "No"})
    if peer.agreed.get("iSCSIProtocolLevel") != "2":
        check(peer.agreed["iSCSIProtocolLevel"] == "1", f"{peer.agreed}")
        return
    pdu = peer.send(peer.write_task(0, 1))
    r2t = peer.expect(R2T, itt=pdu.itt)
    query = peer.send(peer.tmf(QUERY_TASK, pdu))
    peer.expect(TMF_RSP, itt=query.itt, response=7)
    peer.send(*peer.solicited(r2t, pattern(512)))
    peer.expect_status(pdu.itt)
    query = peer.send(peer.tmf(QUERY_TASK, pdu))
    peer.expect(TMF_RSP, itt=query.itt, response=0)


main(test, parameters={"iSCSIProtocolLevel": "2"})
