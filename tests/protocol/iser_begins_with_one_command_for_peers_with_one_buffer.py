# SPDX-License-Identifier: BSD-2-Clause
"""libiscsi has one receive buffer until the first answer of full feature phase has come, and over iWARP
a second message would end the connection: its window begins with one command and is wide after
that. Linux's window is wide from the start."""

from iser import *


def window(rsp):
    return (rsp.max_cmd_sn - rsp.exp_cmd_sn + 1) & NONE


def login(daemon, private):
    peer = daemon.connect(IserPeer, private=private)
    peer.login_step({**peer.names(), "AuthMethod": "None"}, stage=0, next_stage=1)
    return peer, peer.login_step(peer.OPERATIONAL)


def test(daemon):
    peer, rsp = login(daemon, LIBISCSI)
    check(window(rsp) == 1, f"window {window(rsp)}")
    pdu = peer.send(peer.test_unit_ready())
    check(window(peer.expect(RESPONSE, itt=pdu.itt)) == 64, "the window did not open")
    peer.ready()
    peer, rsp = login(daemon, IB_ISER)
    check(window(rsp) == 64, f"window {window(rsp)}")
    peer, rsp = login(daemon, LIBISCSI)
    pdu = peer.send(peer.request(NOP_OUT, ttt=NONE))
    check(window(peer.expect(NOP_IN, itt=pdu.itt)) == 64, "a ping did not open it")


main(test)
