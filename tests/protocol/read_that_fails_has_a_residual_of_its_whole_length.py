# SPDX-License-Identifier: BSD-2-Clause
"""A READ that fails moves no data, and its residual says so: what is not in the residual counts
as read, as sd of Linux does with a medium error."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    pdu = peer.send(peer.read_task(0, 8))
    _, end = peer.collect(pdu, 4096)
    check(end.status == CHECK and end.sense == (3, 0x11, 0), f"{end.status:#x} {end.sense}")
    check(end.flags & 6 == 2, f"residual flags {end.flags & 6:x}, not underflow")
    check(end.residual == 4096, f"residual {end.residual}, not 4096")


main(test, storage={"error_read_ppm": 1000000})
