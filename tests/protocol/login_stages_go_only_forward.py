# SPDX-License-Identifier: BSD-2-Clause
"""Transit to the same or an earlier stage, to stage 2, from stage 3, or a stage that is not in
force is an initiator error."""

from protocol import *


def test(daemon):
    for stage, next_stage in ((0, 0), (1, 0), (1, 1), (0, 2), (1, 2), (2, 3), (3, 3)):
        peer = daemon.connect()
        rsp = peer.login_request(peer.names(), stage=stage, next_stage=next_stage)
        check(rsp.login_status >> 8 == 2, f"{stage} to {next_stage}: {rsp.login_status:04x}")
        peer.expect_closed()
    peer = daemon.connect()
    peer.login_step(peer.names(), stage=1, transit=False)
    peer.refused(0x0200, {}, stage=0, next_stage=1)


main(test)
