# SPDX-License-Identifier: BSD-2-Clause
"""Writes that wait for data and commands that wait for their turn end silently; the answer is
the last PDU."""

from protocol import *


def test(daemon):
    peer = daemon.session({"InitialR2T": "Yes", "ImmediateData": "No"})
    writes = [peer.write_task(0, 8) for _ in range(8)]
    peer.send(*writes)
    for pdu in writes:
        peer.expect(R2T, itt=pdu.itt)
    peer.next_cmd_sn()
    peer.send(peer.test_unit_ready())
    peer.logout()
    check(daemon.session().read(0, 8) == bytes(4096), "an unfinished write was carried out")


main(test)
