# SPDX-License-Identifier: BSD-2-Clause
"""Sessions that ask for writes and send no data, or for reads and take none, as many together as
would take a worker's memory many times over: another session's reads and writes go on meanwhile,
small ones and large ones."""

from protocol import *

SESSIONS = 24
BLOCKS = 4096  # 2 MiB a command


def test(daemon):
    for n, make in enumerate((lambda hog: hog.write_task(0, BLOCKS),
                              lambda hog: hog.read_task(0, BLOCKS))):
        hogs = [daemon.hoard(make, bytes([0x80, 0, 0, 1, n, i])) for i in range(SESSIONS)]
        eventually("all commands taken", lambda: sum(
            s["commands"] >= 60 for s in daemon.sessions()) >= SESSIONS)
        other = daemon.session()
        for i in range(20):
            other.write_and_read_back(128 * i, pattern(65536, seed=i))
        check(len(daemon.sessions()) == SESSIONS + 1, "a session is gone")
        other.close()
        for hog in hogs:
            hog.close()
    peer = daemon.session()
    peer.write_and_read_back(0, pattern(MIB))


# The delay makes the RAM disk one whose memory is not sent from directly.
main(test, arguments=("--pool-mem", "64M"), storage={"delay_read_us": 1})
