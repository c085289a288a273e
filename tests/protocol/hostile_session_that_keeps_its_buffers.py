# SPDX-License-Identifier: BSD-2-Clause
"""A session that asks for more writes than there is memory and sends no data, or for reads and
takes none: the sessions beside it, on the same worker too, go on; when it is gone, its share of
the memory is free for the next."""

from protocol import *

BLOCKS = 4096  # 2 MiB a command: 60 of them are twice a worker's memory


def test(daemon):
    # The next two connections are on either worker, whichever the first is on.
    for make in (lambda hog: hog.write_task(0, BLOCKS), lambda hog: hog.read_task(0, BLOCKS)):
        hog = daemon.hoard(make, bytes.fromhex("80aabb0000ff"))
        eventually("60 commands taken",
                   lambda: any(s["commands"] >= 60 for s in daemon.sessions()))
        others = [daemon.session(isid=bytes([0x80, 0, 0, 0, 0, i])) for i in range(2)]
        for i, other in enumerate(others):
            other.write_and_read_back(64 * i, pattern(32768, seed=i))
        check(len(daemon.sessions()) == 3, "a session is gone")
        hog.close()
        for other in others:
            other.close()
    peer = daemon.session()
    peer.write_and_read_back(0, pattern(MIB))


# The delay makes the RAM disk one whose memory is not sent from directly.
main(test, arguments=("--pool-mem", "64M"), storage={"delay_read_us": 1})
