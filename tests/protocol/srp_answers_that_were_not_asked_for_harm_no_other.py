# SPDX-License-Identifier: BSD-2-Clause
"""CRED_RSP and AER_RSP for which there was no request change nothing, or end their channel: they do
not cost credits, which bounds nothing, so that many of them must not either."""

from srp import *


def test(daemon):
    other = daemon.session(initiator=OTHER)
    peer = daemon.session()
    memory = daemon.memory()
    try:
        for _ in range(200):
            peer.send(*[Iu(opcode=CRED_RSP if i % 2 else AER_RSP, tag=i) for i in range(100)])
        peer.expect_alive()
    except (Failure, ConnectionError):
        pass
    check(daemon.memory() - memory < 8 * MIB, "memory has grown")
    other.expect_alive()


main(test)
