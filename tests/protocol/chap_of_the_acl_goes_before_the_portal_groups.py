# SPDX-License-Identifier: BSD-2-Clause
"""An ACL with credentials of its own is asked for those; authentication=0 in an ACL asks for
none."""

from protocol import *


def attempt(daemon, initiator, user, secret):
    peer = daemon.connect(initiator=initiator)
    rsp = peer.chap_start("7")
    return peer.login_request(peer.chap_response(rsp, user, secret), stage=0,
                              next_stage=1).login_status


def test(daemon):
    check(attempt(daemon, INITIATOR, "own", "acl-secret-12") == 0, "the ACL's own secret")
    check(attempt(daemon, INITIATOR, "user", "secret-of-12") == 0x0201, "the group's secret")
    check(attempt(daemon, INITIATOR + "2", "user", "secret-of-12") == 0, "an ACL without any")
    peer = daemon.connect(initiator=INITIATOR + "3")
    peer.login()
    peer.ready()


main(test, attributes={"authentication": 1, "generate_node_acls": 0},
     chap={"chap_userid": "user", "chap_password": "secret-of-12"},
     acls=[acl(chap_userid="own", chap_password="acl-secret-12"), acl(INITIATOR + "2"),
           acl(INITIATOR + "3", attributes={"authentication": 0})])
