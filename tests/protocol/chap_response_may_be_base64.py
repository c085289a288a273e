# SPDX-License-Identifier: BSD-2-Clause
"""Binary values come as 0x or 0b; a name that begins with 0x is a name."""

import base64

from protocol import *


def test(daemon):
    peer = daemon.connect()
    rsp = peer.chap_start("8")
    answer = peer.chap_response(rsp, "0xname", "secret-of-12")
    raw = bytes.fromhex(answer["CHAP_R"][2:])
    answer["CHAP_R"] = "0b" + base64.b64encode(raw).decode()
    peer.login_step(answer, stage=0, next_stage=1)
    peer.login_step(peer.OPERATIONAL)
    peer.ready()
    peer = daemon.connect()
    rsp = peer.chap_start("8")
    raw = bytes.fromhex(peer.chap_response(rsp, "0xname", "secret-of-12")["CHAP_R"][2:])
    longer = {"CHAP_N": "0xname", "CHAP_R": "0b" + base64.b64encode(bytes(3) + raw).decode()}
    peer.refused(0x0201, longer, stage=0, next_stage=1)


main(test, attributes={"authentication": 1},
     chap={"chap_userid": "0xname", "chap_password": "secret-of-12"})
