# SPDX-License-Identifier: BSD-2-Clause
"""Every opcode a target cannot receive gets Reject or the end of the connection, in full feature
phase; other sessions go on."""

from protocol import *


def test(daemon):
    other = daemon.session(isid=bytes.fromhex("80aabb000002"))
    known = {NOP_OUT, COMMAND, TMF, LOGIN, TEXT, DATA_OUT, LOGOUT, SNACK}
    peer = daemon.session()
    for opcode in sorted(set(range(64)) - known):
        try:
            peer.send(peer.request(opcode, cmd_sn=peer.cmd_sn))
            reject = peer.recv()
            check(reject.opcode == REJECT and reject.reason in (4, 5), f"{opcode:02x}: {reject}")
            peer.good(peer.test_unit_ready())
        except Closed:
            peer = daemon.session()
    other.good(other.test_unit_ready())


main(test)
