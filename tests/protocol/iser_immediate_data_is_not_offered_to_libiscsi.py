# SPDX-License-Identifier: BSD-2-Clause
"""libiscsi up to 1.19 announces immediate data over iSER and does not send it: who connects like it
is answered ImmediateData=No, and its writes are fetched whole. Linux has it as it was asked for."""

from iser import *


def agreed(daemon, private):
    peer = daemon.connect(IserPeer, private=private)
    peer.login_step({**peer.names(), "AuthMethod": "None"}, stage=0, next_stage=1)
    peer.login_step(peer.OPERATIONAL)
    return peer, peer.agreed["ImmediateData"]


def test(daemon):
    check(agreed(daemon, IB_ISER)[1] == "Yes", "Linux is offered none")
    check(agreed(daemon, LIBISCSI)[1] == "No", "libiscsi is offered some")


main(test)
