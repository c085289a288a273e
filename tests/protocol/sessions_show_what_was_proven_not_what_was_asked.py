# SPDX-License-Identifier: BSD-2-Clause
"""A session says with what its initiator proved itself, and whether the target proved itself,
too: where a mutual user is configured and the initiator does not ask, it did not."""

import os

from protocol import *


def proven(daemon, algorithm, asks, isid):
    peer = daemon.connect(isid=isid)
    answer = peer.chap_response(peer.chap_start(algorithm), "user", "secret-of-12")
    if asks:
        answer.update({"CHAP_I": "1", "CHAP_C": "0x" + os.urandom(16).hex()})
    peer.login_step(answer, stage=0, next_stage=1)
    peer.login_step(peer.OPERATIONAL)
    session, = (s for s in daemon.sessions() if s["isid"] == isid.hex())
    return session["auth"], session["authenticated"], session["mutual"]


def test(daemon):
    first = proven(daemon, "5", False, bytes([0x80, 0, 0, 0, 0, 1]))
    check(first == ("CHAP MD5", True, False), f"one way: {first}")
    both = proven(daemon, "8", True, bytes([0x80, 0, 0, 0, 0, 2]))
    check(both == ("mutual CHAP SHA3-256", True, True), f"both ways: {both}")
    daemon.set(daemon.tpg_path(), "attribute", authentication="0")
    peer = daemon.connect(isid=bytes([0x80, 0, 0, 0, 0, 3])).login()
    none, = (s for s in daemon.sessions() if s["isid"] == "800000000003")
    check(none["auth"] == "none" and not none["authenticated"], f"{none}")
    peer.logout()


main(test, attributes={"authentication": 1},
     chap={"chap_userid": "user", "chap_password": "secret-of-12",
           "chap_mutual_userid": "target", "chap_mutual_password": "other-secret-12"})
