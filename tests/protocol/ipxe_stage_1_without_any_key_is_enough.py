# SPDX-License-Identifier: BSD-2-Clause
"""iPXE asks for the next stage with an empty text when it has nothing more to say."""

from initiators import Ipxe
from protocol import *


def test(daemon):
    peer = daemon.connect(Ipxe)
    peer.login_step({**peer.names(), "AuthMethod": "None"}, stage=0, next_stage=1)
    rsp = peer.login_step(peer.OPERATIONAL, transit=False)
    check(not rsp.flags & 0x80, "T in the answer to a request without T")
    rsp = peer.login_step({})
    check(rsp.flags & 0x83 == 0x83 and not rsp.keys, f"answer to nothing: {rsp.keys}")
    peer.ready()


main(test)
