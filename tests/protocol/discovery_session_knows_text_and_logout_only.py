# SPDX-License-Identifier: BSD-2-Clause
"""Everything else is rejected or closes the connection; the target itself says nothing."""

from protocol import *


def test(daemon):
    for opcode in (NOP_OUT, COMMAND, TMF, DATA_OUT, SNACK, LOGIN):
        peer = daemon.connect()
        peer.login(discovery=True)
        peer.send(peer.login_pdu({}) if opcode == LOGIN else peer.request(opcode))
        try:
            check(peer.recv().opcode == REJECT, f"opcode {opcode} was answered")
            peer.cmd_sn = peer.exp_cmd_sn
            answer, _ = peer.texts({"SendTargets": "All"})
            check(daemon.target.iqn.encode() in answer, "not listed")
            peer.logout()
        except Closed:
            pass


main(test)
