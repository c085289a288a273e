# SPDX-License-Identifier: BSD-2-Clause
"""FirstBurstLength, MaxBurstLength and the target's MaxRecvDataSegmentLength at their smallest."""

from protocol import *


def test(daemon):
    peer = daemon.session({"FirstBurstLength": "512", "MaxBurstLength": "512",
                           "MaxRecvDataSegmentLength": "512"})
    check(peer.agreed["MaxRecvDataSegmentLength"] == "512", f"{peer.agreed}")
    data = pattern(40 * BLOCK)
    r2ts = peer.write(0, data)
    check(len(r2ts) == 39, f"{len(r2ts)} R2Ts")
    check(peer.read(0, 40) == data, "read back differs")
    # One byte more than the target takes in one PDU is no PDU.
    peer.send(peer.write_task(0, 2, data=bytes(1024)))
    peer.expect_closed("on a data segment above MaxRecvDataSegmentLength")


main(test, parameters={"MaxRecvDataSegmentLength": "512"})
