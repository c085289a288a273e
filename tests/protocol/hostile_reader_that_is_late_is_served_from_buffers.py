# SPDX-License-Identifier: BSD-2-Clause
"""A session that may only read asks for blocks of a RAM disk and does not take them: the writer's
COMPARE AND WRITE on them waits for a limited time, and then its session is ended. When it comes
back its data moves through buffers, so that nobody waits for it."""

from protocol import *

READER = "iqn.2025-01.org.example:reader"
BLOCKS = 8192  # more than the sockets' buffers take


def read_only(config, scratch):
    tpg = config.targets[0]["tpgs"][0]
    tpg["node_acls"] = [acl(), acl(READER)]
    tpg["node_acls"][1]["mapped_luns"][0]["write_protect"] = True


def reader_of(daemon):
    reader = daemon.session({"MaxRecvDataSegmentLength": "65536"}, initiator=READER)
    tasks = [reader.send(reader.read_task(0, BLOCKS)) for _ in range(4)]
    reader.expect(DATA_IN, itt=tasks[0].itt)
    return reader, tasks


def compare_and_write(peer):
    cdb = struct.pack(">BBQ3xBxx", 0x89, 0, BLOCKS - 1, 1)
    pdu = peer.send(peer.task(cdb, edtl=2 * BLOCK, flags=WRITE, data=bytes(2 * BLOCK)))
    peer.expect(RESPONSE, itt=pdu.itt, status=GOOD)


def test(daemon):
    writer = daemon.session()
    first, _ = reader_of(daemon)
    compare_and_write(writer)
    check("for blocks that it transfers" in daemon.log(), "the reader was not ended for it")
    first.close()
    reader, tasks = reader_of(daemon)
    compare_and_write(writer)
    compare_and_write(writer)
    ends = 0
    while ends < len(tasks):
        pdu = reader.recv()
        ends += pdu.opcode == RESPONSE or pdu.flags & 1


main(test, adapt=read_only, attributes={"nopin_timeout": 60})
