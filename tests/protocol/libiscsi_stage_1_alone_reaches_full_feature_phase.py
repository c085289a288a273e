# SPDX-License-Identifier: BSD-2-Clause
"""libiscsi says everything in one text of the operational stage; the answer grants T at once."""

from initiators import Libiscsi
from protocol import *


def test(daemon):
    peer = daemon.connect(Libiscsi)
    rsp = peer.login_step(peer.everything())
    check(rsp.flags == 0x87, f"flags {rsp.flags:#x}, not T, stage 1 to 3")
    peer.ready()
    peer.write_and_read_back(0, pattern(65536))


main(test)
