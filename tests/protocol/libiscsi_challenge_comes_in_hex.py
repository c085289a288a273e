# SPDX-License-Identifier: BSD-2-Clause
"""libiscsi reads CHAP_C=0x.. and nothing else, and one algorithm is all it offers."""

import re

from initiators import Libiscsi
from protocol import *


def test(daemon):
    for algorithm in (5, 6, 7, 8):
        peer = daemon.connect(Libiscsi)
        keys = {"InitiatorName": peer.initiator, "TargetName": peer.target,
                "SessionType": "Normal"}
        rsp = peer.chap_start(str(algorithm), keys)
        check(rsp.keys["CHAP_A"] == str(algorithm), f"CHAP_A={rsp.keys['CHAP_A']}")
        check(re.fullmatch("0x([0-9a-fA-F]{2})+", rsp.keys["CHAP_C"]), rsp.keys["CHAP_C"])
        answer = peer.chap_response(rsp, "user", "secret-of-12")
        answer["CHAP_R"] = "0x" + answer["CHAP_R"][2:].upper()
        peer.login_step(answer, stage=0, next_stage=1)
        peer.login_step(peer.OPERATIONAL)
        peer.ready().close()


main(test, attributes={"authentication": 1},
     chap={"chap_userid": "user", "chap_password": "secret-of-12"})
