# SPDX-License-Identifier: BSD-2-Clause
"""A session that may only read owes the data of a VERIFY of many blocks and asks for a ROD token
of others: the writer's reads, writes and COMPARE AND WRITE go on, also of the blocks that are to
be verified."""

from protocol import *

READER = "iqn.2025-01.org.example:reader"
BLOCKS = 128


def read_only(config, scratch):
    tpg = config.targets[0]["tpgs"][0]
    tpg["node_acls"] = [acl(), acl(READER)]
    tpg["node_acls"][1]["mapped_luns"][0]["write_protect"] = True


def populate_token(peer):
    ranges = struct.pack(">QI4x", 0, 8)
    data = struct.pack(">HBxI6xH", 14 + len(ranges), 0, 0, len(ranges)) + ranges
    cdb = struct.pack(">BB4xIIxx", 0x83, 0x10, 1, len(data))
    return peer.task(cdb, edtl=len(data), flags=WRITE, data=data)


def verify(peer):
    return peer.task(struct.pack(">BBIBHB", 0x2f, 0x02, 0, 0, BLOCKS, 0), edtl=BLOCKS * BLOCK,
                     flags=WRITE)


def compare_and_write(peer):
    cdb = struct.pack(">BBQ3xBxx", 0x89, 0, 0, 1)
    return peer.task(cdb, edtl=2 * BLOCK, flags=WRITE, data=bytes(2 * BLOCK))


def test(daemon):
    writer = daemon.session()
    reader = daemon.session({"InitialR2T": "Yes"}, initiator=READER)
    owing = reader.send(verify(reader))
    reader.expect(R2T, itt=owing.itt)
    token = reader.send(populate_token(reader))
    writer.read(1000, 8)
    writer.write_and_read_back(0, pattern(BLOCKS * BLOCK))
    writer.write(0, bytes(BLOCKS * BLOCK))
    pdu = writer.send(compare_and_write(writer))
    writer.expect(RESPONSE, itt=pdu.itt, status=GOOD)
    reader.expect(RESPONSE, itt=token.itt, status=GOOD)


main(test, adapt=read_only)
