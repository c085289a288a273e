# SPDX-License-Identifier: BSD-2-Clause
"""Sessions with thousands of writes that wait for an earlier CmdSN, their data with them, leave
receive buffers for a session that has none waiting, and for a login."""

from iser import *

WRITES = 500


def test(daemon):
    first = daemon.session(kind=IserPeer)
    crowd = []
    for i in range(20):
        peer = daemon.session(kind=IserPeer, isid=bytes([0x80, 1, 1, 0, 0, i]))
        missing = peer.test_unit_ready()
        writes = [peer.write_task(n, 1, data=pattern(BLOCK, i + 1)) for n in range(WRITES)]
        for n in range(0, WRITES, 50):
            peer.send(*writes[n:n + 50])
        crowd.append((peer, missing))
    first.write(1024, pattern(65536))
    check(first.read(1024, 128) == pattern(65536), "read back differs")
    daemon.session(kind=IserPeer, isid=bytes(6)).ready()
    for peer, missing in crowd:  # and none of what was waiting is lost
        peer.good(missing)
        for _ in range(WRITES):
            peer.expect(RESPONSE, status=GOOD)
    check(first.read(WRITES - 1, 1) == pattern(BLOCK, 20), "the last write is not there")


main(test, attributes={"default_cmdsn_depth": 512, "nopin_timeout": 60})
