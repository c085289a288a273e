# SPDX-License-Identifier: BSD-2-Clause
"""MD5, SHA-1, SHA-256 and SHA3-256, each alone; the challenge is at least as long as the hash."""

from protocol import *


def test(daemon):
    for algorithm in (5, 6, 7, 8):
        peer = daemon.connect()
        rsp = peer.chap_start(str(algorithm))
        check(rsp.keys["CHAP_A"] == str(algorithm), f"{rsp.keys}")
        check(len(rsp.keys["CHAP_C"]) // 2 - 1 >= HASHES[algorithm]().digest_size, "short")
        rsp = peer.login_step(peer.chap_response(rsp, "user", "secret-of-12"), stage=0,
                              next_stage=1)
        check(rsp.flags & 0x83 == 0x81, "not let into the operational stage")
        peer.login_step(peer.OPERATIONAL)
        peer.ready()
        sessions = daemon.sessions()
        check(sessions[-1]["authenticated"] and not sessions[-1]["mutual"], f"{sessions}")
        peer.logout()


main(test, attributes={"authentication": 1},
     chap={"chap_userid": "user", "chap_password": "secret-of-12"})
