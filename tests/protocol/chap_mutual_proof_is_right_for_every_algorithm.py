# SPDX-License-Identifier: BSD-2-Clause
"""The target answers the initiator's challenge with its own name and secret, with the algorithm
that was chosen."""

import os

from protocol import *


def test(daemon):
    for algorithm in (5, 6, 7, 8):
        peer = daemon.connect()
        rsp = peer.chap_start(str(algorithm))
        own = os.urandom(algorithm * 8)
        rsp = peer.login_step({**peer.chap_response(rsp, "user", "secret-of-12"),
                               "CHAP_I": "255", "CHAP_C": "0x" + own.hex()}, stage=0,
                              next_stage=1)
        proof = peer.chap_hash(algorithm, 255, "other-secret-12", own).hex()
        check(rsp.keys["CHAP_N"] == "target", f"{rsp.keys}")
        check(rsp.keys["CHAP_R"].lower() == "0x" + proof, f"algorithm {algorithm}: wrong proof")
        peer.login_step(peer.OPERATIONAL)
        check(daemon.sessions()[-1]["mutual"], "not told as mutual")
        peer.ready().logout()


main(test, attributes={"authentication": 1},
     chap={"chap_userid": "user", "chap_password": "secret-of-12",
           "chap_mutual_userid": "target", "chap_mutual_password": "other-secret-12"})
