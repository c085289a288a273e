# SPDX-License-Identifier: BSD-2-Clause
"""Every LUN format and any tag: answered, never trusted."""

import random

from protocol import *


def test(daemon):
    peer = daemon.session()
    dice = random.Random(2)
    for n in range(200):
        address = dice.randbytes(8) if n > 8 else bytes([n << 5 & 0xff]) + bytes(7)
        pdu = peer.send(peer.test_unit_ready(lun=address, itt=dice.randrange(NONE)))
        peer.expect(RESPONSE, itt=pdu.itt)
        abort = peer.send(peer.tmf(ABORT_TASK, lun=address, ref_itt=dice.randrange(NONE),
                                   ref_cmd_sn=dice.randrange(NONE)))
        check(peer.expect(TMF_RSP, itt=abort.itt).response in (0, 1, 2), "another answer")
    peer.good(peer.test_unit_ready())


main(test)
