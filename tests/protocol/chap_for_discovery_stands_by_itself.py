# SPDX-License-Identifier: BSD-2-Clause
"""Discovery has credentials of its own, mutual too; without them nothing is listed."""

import os

from protocol import *


def test(daemon):
    def names(peer):
        return peer.names(discovery=True)

    peer = daemon.connect()
    peer.refused(0x0201, names(peer))
    peer = daemon.connect()
    rsp = peer.chap_start("5", names(peer))
    peer.refused(0x0201, peer.chap_response(rsp, "finder", "wrong-secret-12"), stage=0,
                 next_stage=1)
    peer = daemon.connect()
    rsp = peer.chap_start("5", names(peer))
    own = os.urandom(16)
    rsp = peer.login_step({**peer.chap_response(rsp, "finder", "find-secret-12"), "CHAP_I": "9",
                           "CHAP_C": "0x" + own.hex()}, stage=0, next_stage=1)
    proof = peer.chap_hash(5, 9, "back-secret-12", own).hex()
    check(rsp.keys["CHAP_R"].lower() == "0x" + proof, "wrong proof of the target")
    peer.login_step({})
    answer, _ = peer.texts({"SendTargets": "All"})
    check(daemon.target.iqn.encode() in answer, "not found")
    daemon.session()  # a normal session needs none


main(test, discovery={"discovery_userid": "finder", "discovery_password": "find-secret-12",
                      "discovery_mutual_userid": "back",
                      "discovery_mutual_password": "back-secret-12"})
