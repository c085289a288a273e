# SPDX-License-Identifier: BSD-2-Clause
"""Commands of another nexus end with TASK ABORTED, and it hears of the reset by a unit attention."""

from protocol import *


def test(daemon):
    one = daemon.session({"InitialR2T": "Yes", "ImmediateData": "No"})
    two = daemon.session(isid=bytes.fromhex("80aabb000002"))
    pdu = one.send(one.write_task(0, 8))
    r2t = one.expect(R2T, itt=pdu.itt)
    reset = two.send(two.tmf(LU_RESET))
    two.expect(TMF_RSP, itt=reset.itt, response=0)
    one.send(*one.solicited(r2t, pattern(4096)))
    one.expect_status(pdu.itt, TASK_ABORTED)
    probe = one.send(one.test_unit_ready())
    rsp = one.expect_status(probe.itt, CHECK)
    check(rsp.sense[:2] in ((6, 0x29), (6, 0x2f)), f"sense {rsp.sense}")
    one.ready()
    check(one.read(0, 8) == bytes(4096), "the aborted write was carried out")
    two.ready()


main(test)
