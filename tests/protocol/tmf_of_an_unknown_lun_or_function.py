# SPDX-License-Identifier: BSD-2-Clause
"""LOGICAL UNIT RESET of a LUN that is not there: 2. Functions that do not exist: 5. TASK
REASSIGN at level 0: 4. CLEAR ACA, with NormACA=0: 5. The rest are answered."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    for function, fields, answers in (
            (LU_RESET, {"lun": lun(77)}, {2}), (ABORT_TASK_SET, {"lun": lun(77)}, {2}),
            (CLEAR_TASK_SET, {"lun": lun(77)}, {2}), (TASK_REASSIGN, {}, {4}), (0, {}, {5}),
            (13, {}, {5}), (0x7f, {}, {5}), (QUERY_TASK, {}, {5}), (11, {}, {5}),
            (CLEAR_ACA, {}, {5}), (ABORT_TASK_SET, {}, {0}), (CLEAR_TASK_SET, {}, {0}),
            (LU_RESET, {}, {0}), (ABORT_TASK, {}, {1})):
        pdu = peer.send(peer.tmf(function, **fields))
        rsp = peer.expect(TMF_RSP, f"function {function}", itt=pdu.itt)
        check(rsp.response in answers, f"function {function} {fields}: {rsp.response}")
    peer.ready()


main(test)
