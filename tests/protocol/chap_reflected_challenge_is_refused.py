# SPDX-License-Identifier: BSD-2-Clause
"""The target's own challenge sent back, on the same or on a second connection, proves nothing."""

from protocol import *


def test(daemon):
    peer = daemon.connect()
    rsp = peer.chap_start("5")
    answer = peer.chap_response(rsp, "user", "secret-of-12")
    answer.update(CHAP_I=rsp.keys["CHAP_I"], CHAP_C=rsp.keys["CHAP_C"])
    peer.refused(0x0201, answer, stage=0, next_stage=1)
    # A thief asks the target, on a second connection, to answer the first one's challenge.
    one, two = daemon.connect(), daemon.connect()
    asked = one.chap_start("5")
    other = two.chap_start("5")
    check(asked.keys["CHAP_C"] != other.keys["CHAP_C"], "two challenges are the same")
    two.refused(0x0201, {"CHAP_N": "user", "CHAP_R": "0x" + "5a" * 16,
                         "CHAP_I": asked.keys["CHAP_I"], "CHAP_C": asked.keys["CHAP_C"]},
                stage=0, next_stage=1)


main(test, attributes={"authentication": 1},
     chap={"chap_userid": "user", "chap_password": "secret-of-12",
           "chap_mutual_userid": "target", "chap_mutual_password": "other-secret-12"})
