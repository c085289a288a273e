# SPDX-License-Identifier: BSD-2-Clause
"""Transit from stage 0 to 3 leaves every operational key at its standard value."""

from protocol import *


def test(daemon):
    peer = daemon.connect()
    rsp = peer.chap_start("7")
    peer.login_step(peer.chap_response(rsp, "user", "secret-of-12"), stage=0, next_stage=3)
    check(peer.is_full_feature, "not in full feature phase")
    peer.ready()
    check(daemon.sessions()[0]["parameters"]["MaxXmitDataSegmentLength"] == 8192, "not 8192")


main(test, attributes={"authentication": 1},
     chap={"chap_userid": "user", "chap_password": "secret-of-12"})
