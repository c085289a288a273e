# SPDX-License-Identifier: BSD-2-Clause
"""A tag that is in use already comes again: each command is answered or one is refused, and the
session continues or ends; nothing else suffers."""

from protocol import *


def test(daemon):
    other = daemon.session(isid=bytes.fromhex("80aabb000002"))
    peer = daemon.session({"InitialR2T": "Yes", "ImmediateData": "No"})
    tasks = [peer.write_task(n, 8, itt=0x77) for n in range(4)]
    peer.send(*tasks)
    peer.send(peer.tmf(LU_RESET), peer.tmf(ABORT_TASK, tasks[0]), peer.test_unit_ready(itt=0x77))
    peer.send(*peer.data_out(tasks[0], pattern(4096), 0, 0, size=512))
    peer.close()
    other.ready()
    check(other.read(0, 16) == bytes(8192), "an aborted write was carried out")


main(test)
