# SPDX-License-Identifier: BSD-2-Clause
"""Unsolicited data of commands that wait for an earlier CmdSN has one limit for all sessions
together; beyond it each may have a little. Other sessions write as ever, and the memory returns to
the system afterwards."""

import os

from protocol import *

# What AddressSanitizer keeps of freed memory is not the daemon's.
Daemon.environment = {"ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:quarantine_size_mb=1"}
SESSIONS, WRITES = 60, 60
SIZE = 65536
TOGETHER, AFTERWARDS = 112 * MIB, 16 * MIB


def out_of_turn(peer):
    """Writes with all of their data and without the CmdSN before them."""
    data = bytes(SIZE)
    now, more = peer.unsolicited(data)
    check(now + more == SIZE, "the data may not come unsolicited")
    peer.next_cmd_sn()
    for _ in range(WRITES):
        pdu = peer.write_task(0, SIZE // BLOCK, data=data[:now], final=not more)
        peer.send_bytes(b"".join(p.wire() for p in [pdu, *peer.data_out(pdu, data[now:], now)]))
    # An answer: all of it has arrived.
    ping = peer.send(peer.request(NOP_OUT, immediate=True, ttt=NONE))
    peer.expect(NOP_IN, itt=ping.itt)


def test(daemon):
    other = daemon.session(isid=bytes.fromhex("80aabb000002"))
    memory, hogs = daemon.memory(), []
    for i in range(SESSIONS):
        hogs.append(daemon.session(isid=bytes([0x80, 0, 0, 1, 0, i])))
        out_of_turn(hogs[-1])
    grown = daemon.memory() - memory
    check(grown < TOGETHER, f"{grown >> 20} MiB for {SESSIONS} sessions")
    other.write_and_read_back(0, pattern(MIB))
    for hog in hogs:
        hog.close()
    daemon.frees_memory(memory + AFTERWARDS)


main(test)
