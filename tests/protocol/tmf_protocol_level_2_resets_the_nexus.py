# SPDX-License-Identifier: BSD-2-Clause
"""With iSCSIProtocolLevel=2 I_T NEXUS RESET ends the session's commands on all logical units and what
it has reserved, and tells of the loss; the session stays, and others notice nothing. Without the key
the function does not exist (RFC 7144)."""

from protocol import *

NEXUS_RESET = 11
RESERVE = b"\x16" + bytes(5)


def test(daemon):
    peer = daemon.session({"iSCSIProtocolLevel": "2", "InitialR2T": "Yes", "ImmediateData": "No"})
    check(peer.agreed.get("iSCSIProtocolLevel") == "2", f"{peer.agreed}")
    other = daemon.session(isid=bytes.fromhex("80aabb000002"))
    pdu = peer.send(peer.test_unit_ready(lun=lun(1)))
    peer.expect_status(pdu.itt, CHECK, (6, 0x29, 0))
    for unit in range(2):
        peer.send(peer.write_task(0, 1, lun=lun(unit), itt=100 + unit))
        peer.expect(R2T, itt=100 + unit)
    peer.good(peer.task(RESERVE))
    pdu = other.send(other.test_unit_ready())
    check(other.expect(RESPONSE, itt=pdu.itt).status == 0x18, "not reserved")
    query = peer.send(peer.tmf(NEXUS_RESET))
    peer.expect(TMF_RSP, itt=query.itt, response=0)
    for unit in range(2):
        pdu = peer.send(peer.test_unit_ready(lun=lun(unit)))
        peer.expect_status(pdu.itt, CHECK, (6, 0x29, 7))
        peer.good(peer.test_unit_ready(lun=lun(unit)))
    other.good(other.test_unit_ready())
    peer.write_and_read_back(0, pattern(512))
    peer.good(peer.task(RESERVE))  # again
    pdu = other.send(other.test_unit_ready())
    check(other.expect(RESPONSE, itt=pdu.itt).status == 0x18, "not reserved again")
    query = other.send(other.tmf(NEXUS_RESET))
    other.expect(TMF_RSP, itt=query.itt, response=5)


main(test, luns=2, parameters={"iSCSIProtocolLevel": "2"})
