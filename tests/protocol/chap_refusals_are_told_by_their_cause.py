# SPDX-License-Identifier: BSD-2-Clause
"""No CHAP, a wrong user and a wrong secret are refusals of their own, each with its count, its first
and its last time, and so are the same of another address."""

from protocol import *


def attempt(daemon, user, secret, **options):
    peer = daemon.connect(**options)
    rsp = peer.chap_start()
    peer.send(peer.login_pdu(peer.chap_response(rsp, user, secret), stage=0, next_stage=1))
    check(peer.expect(LOGIN_RSP).login_status == 0x0201, "let in")


def test(daemon):
    daemon.connect().refused(0x0201, {**daemon.connect().names(), "AuthMethod": "None"}, stage=0,
                             next_stage=1)
    attempt(daemon, "nobody", "right secret 1")
    for n in range(5):
        attempt(daemon, "peer", f"wrong secret {n}")
    attempt(daemon, "peer", "wrong secret", source="127.0.0.2")
    found = [(r["count"], r["reason"].split(":")[0], r["peer"].split(":")[0])
             for r in daemon.refusals()]
    check(found == [(1, "CHAP_R", "127.0.0.2"), (5, "CHAP_R", "127.0.0.1"),
                    (1, "CHAP_N", "127.0.0.1"), (1, "AuthMethod", "127.0.0.1")], f"{found}")
    check(all(0 < r["first"] <= r["last"] for r in daemon.refusals()), "no times")


main(test, attributes={"authentication": 1, "generate_node_acls": 0},
     acls=[acl(chap_userid="peer", chap_password="right secret 1")])
