# SPDX-License-Identifier: BSD-2-Clause
"""Sessions that send writes with as many descriptors as an IU takes, and answer no RDMA Read, have
one limit of memory together: beyond it their commands are answered with BUSY, and another session
goes on. The memory returns to the system afterwards."""

from srp import *

SESSIONS, COMMANDS, DESCRIPTORS = 160, 127, 255
TOGETHER, AFTERWARDS = 320 * MIB, 32 * MIB


class Hog(SrpPeer):
    def check(self, iu):
        pass

    def _read_request(self, body):
        pass

    def push(self, raw):
        """Sends COMMANDS times the same IU with another tag."""
        tags = [self.next_tag() for _ in range(COMMANDS)]
        self.send_bytes(b"".join(self.message(raw[:8] + tag.to_bytes(8, "big") + raw[16:])
                                 for tag in tags))


def long_write(peer):
    entry = struct.pack(">QII", 0x7f0000001000, 0x10100, BLOCK)
    head = struct.pack(">QIII", 0x7f0000001000, 0x10100, 16 * DESCRIPTORS, BLOCK * DESCRIPTORS)
    data = Data(2, head + entry * DESCRIPTORS, count=DESCRIPTORS, length=BLOCK * DESCRIPTORS)
    return bytes(peer.write_from(data).raw)


def test(daemon):
    other = daemon.session(initiator=OTHER)
    memory, hogs = daemon.memory(), []
    for i in range(SESSIONS):
        hogs.append(daemon.connect(Hog, initiator=f"ib.{i:032x}").ready())
        hogs[-1].push(long_write(hogs[-1]))
    other.write(0, pattern(65536))
    check(other.read(0, 128) == pattern(65536), "other data")
    grown = daemon.memory() - memory
    check(grown < TOGETHER, f"{grown >> 20} MiB for {SESSIONS} sessions with long tables")
    # Who answers no read is ended in 30 s; on a slow machine the first are before the last come.
    if len(daemon.sessions()) == SESSIONS + 1:
        check(hogs[-1].recv().status == BUSY, "the last session may keep as much as the first")
    for hog in hogs:
        hog.close()
    eventually("they are gone", lambda: len(daemon.sessions()) == 1)
    daemon.frees_memory(memory + AFTERWARDS)
    other.expect_alive()


main(test, acls=("127.0.0.1", OTHER))
