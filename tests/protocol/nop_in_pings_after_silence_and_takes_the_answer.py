# SPDX-License-Identifier: BSD-2-Clause
"""An idle session is pinged: tag reserved, target tag given, StatSN not advanced. Answered, it
continues; the next ping comes after the next silence."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    for _ in range(2):
        before = peer.exp_stat_sn
        ping = peer.expect(NOP_IN, itt=NONE)
        check(ping.ttt != NONE and not ping.data, "no target tag, or data")
        check(peer.exp_stat_sn == before == ping.stat_sn, "StatSN has advanced")
        peer.send(peer.request(NOP_OUT, immediate=True, itt=NONE, ttt=ping.ttt, lun=ping.lun))
    peer.good(peer.test_unit_ready())


main(test, attributes={"nopin_timeout": 3, "nopin_response_timeout": 3})
