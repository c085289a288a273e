# SPDX-License-Identifier: BSD-2-Clause
"""Hundreds of task management requests at once: each is answered or rejected, none is lost, and
the session goes on."""

from protocol import *


def test(daemon):
    peer = daemon.session({"InitialR2T": "Yes", "ImmediateData": "No"})
    writes = [peer.write_task(0, 1) for _ in range(32)]
    peer.send(*writes)
    for pdu in writes:
        peer.expect(R2T, itt=pdu.itt)
    flood = [peer.tmf(ABORT_TASK, w) for w in writes] + \
        [peer.tmf(n % 5 + 1) for n in range(300)]
    peer.send(*flood)
    answered = 0
    for _ in flood:
        pdu = peer.recv()
        while pdu.opcode == NOP_IN:  # news of the window
            pdu = peer.recv()
        check(pdu.opcode in (TMF_RSP, REJECT), f"{pdu}")
        answered += pdu.opcode == TMF_RSP
    check(answered >= 16, f"only {answered} answered")
    peer.ready()
    check(peer.max_cmd_sn - peer.exp_cmd_sn == 63, "the window lacks places")


main(test)
