# SPDX-License-Identifier: BSD-2-Clause
"""default_cmdsn_depth commands in flight close the window; each answer opens it by one, and a
command beyond it is dropped."""

from protocol import *


def test(daemon):
    peer = daemon.session({"InitialR2T": "Yes", "ImmediateData": "No"})
    check(peer.max_cmd_sn - peer.exp_cmd_sn + 1 == 16, "the window is not 16")
    writes = [peer.write_task(n, 1) for n in range(16)]
    peer.send(*writes)
    r2ts = [peer.expect(R2T, itt=w.itt) for w in writes]
    check(peer.max_cmd_sn == peer.exp_cmd_sn - 1, "the window is not closed")
    dropped = peer.test_unit_ready(cmd_sn=peer.cmd_sn)
    peer.send(dropped)
    for count, r2t in enumerate(r2ts):
        peer.send(*peer.solicited(r2t, pattern(512)))
        rsp = peer.expect(RESPONSE, itt=r2t.itt, status=GOOD)
        check(rsp.max_cmd_sn == (rsp.exp_cmd_sn + count) & NONE, "not opened by one")
    peer.good(peer.test_unit_ready())
    check(peer.max_cmd_sn - peer.exp_cmd_sn + 1 == 16, "the window is not whole again")


main(test, attributes={"default_cmdsn_depth": 16})
