# SPDX-License-Identifier: BSD-2-Clause
"""Wrong secret, wrong name, a response that is short, long, empty or no number: refused, on
record, and the secret is in no log."""

from protocol import *


def test(daemon):
    def attempt(change):
        peer = daemon.connect()
        rsp = peer.chap_start("5")
        answer = peer.chap_response(rsp, "user", "secret-of-12")
        change(answer, rsp)
        peer.refused(0x0201, answer, stage=0, next_stage=1)
        check(daemon.refusals()[0]["status"] == 0x0201, "not on record")

    def response(value):
        return lambda answer, _: answer.update(CHAP_R=value(answer["CHAP_R"]))

    attempt(lambda a, _: a.update(CHAP_N="User"))
    attempt(lambda a, _: a.update(CHAP_N=""))
    attempt(lambda a, _: a.pop("CHAP_N"))
    attempt(lambda a, _: a.pop("CHAP_R"))
    attempt(response(lambda r: r[:-2]))
    attempt(response(lambda r: r + "00"))
    attempt(response(lambda r: "0x00" + r[2:]))
    attempt(response(lambda r: "0x" + "0" * 32))
    attempt(response(lambda r: r[2:]))
    attempt(response(lambda r: "0x"))
    attempt(response(lambda r: "0xzz" + r[4:]))
    attempt(response(lambda r: "0b" + "A" * 22 + "=="))
    attempt(lambda a, rsp: a.update(CHAP_R=rsp.keys["CHAP_C"]))
    check("secret-of-12" not in daemon.log(), "the secret is in the log")
    check(daemon.counter("failed_auth") == 13, f"{daemon.counter('failed_auth')} counted")


main(test, attributes={"authentication": 1},
     chap={"chap_userid": "user", "chap_password": "secret-of-12"})
