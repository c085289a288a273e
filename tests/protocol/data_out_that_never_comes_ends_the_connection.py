# SPDX-License-Identifier: BSD-2-Clause
"""Data that is owed and makes no progress is not waited for without end: the commands of a peer
that owes it do not hold memory for ever."""

from protocol import *


def test(daemon):
    peer = daemon.session({"InitialR2T": "Yes", "ImmediateData": "No"})
    pdu = peer.send(peer.write_task(0, 8))
    peer.expect(R2T, itt=pdu.itt)
    timeout = daemon.rpc("tree.get", path=daemon.tpg_path(), group="attribute",
                         parameter="dataout_timeout")
    check("2" in str(timeout), f"{timeout}")
    peer.timeout = 25
    while True:
        try:
            check(peer.recv().opcode == NOP_IN, "an answer without data")
        except Closed:
            break
    daemon.session()


main(test, attributes={"dataout_timeout": 2})
