# SPDX-License-Identifier: BSD-2-Clause
"""Where T is not granted libiscsi sends all of its keys a second time: the repetition is no
error."""

from initiators import Libiscsi
from protocol import *


def test(daemon):
    peer = daemon.connect(Libiscsi)
    rsp = peer.login_step(peer.everything(), transit=False)
    check(rsp.flags & 0x80 == 0, "T in the answer to a request without T")
    rsp = peer.login_step(peer.everything())
    check(rsp.flags == 0x87, "the second copy did not lead on")
    peer.ready().logout()


main(test)
