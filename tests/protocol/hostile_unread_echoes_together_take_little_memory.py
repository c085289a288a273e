# SPDX-License-Identifier: BSD-2-Clause
"""Sessions that send pings and do not read the echoes have one limit of memory together: beyond
it each is received from only while it has little unread. Other sessions go on, with their pings
echoed; a long ping is answered without its data. The memory returns to the system afterwards."""

import os

from protocol import *

# What AddressSanitizer keeps of freed memory is not the daemon's.
Daemon.environment = {"ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:quarantine_size_mb=1"}
SESSIONS = 60
TOGETHER, AFTERWARDS = 48 * MIB, 16 * MIB


class Hog(Peer):
    raw = left = b""

    def push(self):
        """Sends until the daemon takes no more; whether it has taken anything."""
        self.socket.setblocking(False)
        begin = len(self.left)
        try:
            while True:
                self.left = self.left or self.raw
                self.left = self.left[self.socket.send(self.left):]
        except BlockingIOError:
            return len(self.left) != begin


def echo_of(peer, size):
    pdu = peer.send(peer.request(NOP_OUT, immediate=True, ttt=NONE, data=bytes(size)))
    return len(peer.expect(NOP_IN, itt=pdu.itt).data)


def test(daemon):
    other = daemon.session(isid=bytes.fromhex("80aabb000002"))
    memory, hogs = daemon.memory(), []
    for i in range(SESSIONS):
        hogs.append(daemon.session(kind=Hog, isid=bytes([0x80, 0, 0, 1, 0, i])))
        hogs[-1].raw = hogs[-1].request(NOP_OUT, immediate=True, ttt=NONE, data=bytes(8192)).wire()
    silent = 0
    while silent < 3:
        silent = 0 if sum(hog.push() for hog in hogs) else silent + 1
        daemon.settle()
    grown = daemon.memory() - memory
    check(grown < TOGETHER, f"{grown >> 20} MiB for {SESSIONS} sessions that do not read")
    other.write_and_read_back(0, pattern(65536))
    check(echo_of(other, 8192) == 8192, "a ping was not echoed")
    check(echo_of(other, 200000) == 0, "a long ping's data was kept")
    for hog in hogs:
        hog.close()
    eventually("they are gone", lambda: len(daemon.sessions()) == 1)
    daemon.frees_memory(memory + AFTERWARDS)
    check(echo_of(other, 200000) == 200000, "a long ping was not echoed")


main(test)
