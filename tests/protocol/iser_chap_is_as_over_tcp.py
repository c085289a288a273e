# SPDX-License-Identifier: BSD-2-Clause
"""CHAP over iSER: the right secret gets in, the wrong one is told 0201 before the close."""

from iser import *


def login(daemon, secret):
    peer = daemon.connect(IserPeer)
    rsp = peer.chap_start()
    return peer, peer.login_request(peer.chap_response(rsp, "user", secret), stage=0, next_stage=1)


def test(daemon):
    peer, rsp = login(daemon, "wrong-secret-000")
    check(rsp.login_status == 0x0201, f"{rsp.login_status:04x}")
    peer.expect_closed()
    peer, rsp = login(daemon, "secret-secret-00")
    check(rsp.login_status == 0, f"{rsp.login_status:04x}")
    peer.login_step(peer.OPERATIONAL)
    peer.ready()


main(test, attributes={"authentication": 1, "generate_node_acls": 0},
     acls=[acl(chap_userid="user", chap_password="secret-secret-00")])
