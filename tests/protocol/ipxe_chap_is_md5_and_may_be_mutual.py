# SPDX-License-Identifier: BSD-2-Clause
"""iPXE knows algorithm 5 and asks for the target's proof when it has reverse credentials."""

from initiators import Ipxe
from protocol import *


def test(daemon):
    peer = daemon.connect(Ipxe)
    rsp = peer.chap_start("5", peer.names())
    own = bytes(range(16))
    answer = {**peer.chap_response(rsp, "user", "secret-of-12"), "CHAP_I": "77",
              "CHAP_C": "0x" + own.hex()}
    rsp = peer.login_step(answer, stage=0, next_stage=1)
    check(rsp.keys["CHAP_N"] == "target", f"CHAP_N={rsp.keys.get('CHAP_N')}")
    proof = peer.chap_hash(5, 77, "other-secret-12", own)
    check(bytes.fromhex(rsp.keys["CHAP_R"][2:]) == proof, "the target's proof is wrong")
    peer.login_operational()
    peer.ready()


main(test, attributes={"authentication": 1},
     chap={"chap_userid": "user", "chap_password": "secret-of-12",
           "chap_mutual_userid": "target", "chap_mutual_password": "other-secret-12"})
