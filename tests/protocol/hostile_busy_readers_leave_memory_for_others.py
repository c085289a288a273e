# SPDX-License-Identifier: BSD-2-Clause
"""Sessions that always have more to read than there is memory, and read what comes, do not keep a
large command of another session waiting until they are done: after seconds without memory it is
served first."""

import select

from protocol import *

SESSIONS, READS = 16, 60
BLOCKS = 1024  # 512 KiB a command
ALL = SESSIONS * READS * BLOCKS * BLOCK


class Reader(Peer):
    def start(self):
        self.send(*[self.read_task(0, BLOCKS) for _ in range(READS)])
        self.socket.setblocking(False)
        return self

    def take(self):
        """Some of what has come; how much."""
        try:
            return len(self.socket.recv(128 << 10))
        except OSError:
            return 0


def test(daemon):
    crowd = [daemon.session(kind=Reader, isid=bytes([0x80, 0, 0, 1, 0, i])).start()
             for i in range(SESSIONS)]
    other = daemon.session()
    pdu = other.send(other.read_task(0, 4 * BLOCKS))
    taken = 0
    while not select.select([other.socket], [], [], 0.2)[0]:
        taken += sum(reader.take() for reader in crowd)
        check(taken < ALL // 2, "the others have taken half of what they asked for")
    other.collect(pdu, 4 * BLOCKS * BLOCK)
    for reader in crowd:
        reader.close()


main(test, arguments=("--pool-mem", "16M"), storage={"delay_read_us": 1},
     attributes={"nopin_timeout": 60})
