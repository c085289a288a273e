# SPDX-License-Identifier: BSD-2-Clause
"""More COMPARE AND WRITEs than are looked at together wait for a session that has yet to take the
blocks: all of them end well when it has, those of the same block among them."""

from protocol import *

BLOCKS = 8192
EACH = 60


def compare_and_write(peer, lba):
    cdb = struct.pack(">BBQ3xBxx", 0x89, 0, lba, 1)
    return peer.task(cdb, edtl=2 * BLOCK, flags=WRITE, data=bytes(2 * BLOCK))


def test(daemon):
    reader = daemon.session({"MaxRecvDataSegmentLength": "65536"})
    writers = [daemon.session(isid=bytes((0x80, 0, 0, 0, 1, n))) for n in range(4)]
    tasks = [reader.send(reader.read_task(0, BLOCKS)) for _ in range(4)]
    reader.expect(DATA_IN, itt=tasks[0].itt)
    for n, writer in enumerate(writers):
        writer.send(*[compare_and_write(writer, BLOCKS - 1 - (EACH * n + i) // 2)
                      for i in range(EACH)])
    ends = 0
    while ends < len(tasks):
        pdu = reader.recv()
        ends += pdu.opcode == RESPONSE or pdu.flags & 1
    for writer in writers:
        for _ in range(EACH):
            writer.expect(RESPONSE, status=GOOD)


main(test, attributes={"nopin_timeout": 60})
