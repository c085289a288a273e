# SPDX-License-Identifier: BSD-2-Clause
"""iSER as bytes: the header of RFC 7145 9 in front of PDUs, over rdma_raw.py."""

import struct

from iscsi_raw import DATA_IN, NOP_IN, Pdu, R2T, Wire
from rdma_raw import *  # noqa: F403: tests import everything from here
from rdma_raw import RdmaWire

NO_ZBVA, NO_INVALIDATE = 0x80, 0x40
FFP_DATA_MAX = 128  # of ib_iser's and libiscsi's receive buffers


def iser_header(write=None, read=None, opcode=0x10):
    """write, read: (STag, base) or None."""
    first = opcode | (0x08 if write else 0) | (0x04 if read else 0)
    return struct.pack(">B3xIQIQ", first, *(write or (0, 0)), *(read or (0, 0)))


class IserWire(RdmaWire, Wire):
    """An initiator's end of an RDMA connection. Tags of a command are those of the Pdu's
    attributes write and read."""

    def __init__(self, *where, private=bytes((NO_ZBVA, 0, 0, 0)), **options):
        super().__init__(*where, private=private, **options)

    def send(self, *pdus):
        out = b""
        for pdu in pdus:
            self.log.append((">", pdu))
            header = iser_header(getattr(pdu, "write_tag", None), getattr(pdu, "read_tag", None))
            out += self.message(header + bytes(pdu.bhs) + pdu.ahs + pdu.data)
        self.send_bytes(out)
        return pdus[0]

    def recv(self):
        whole = self.recv_message()
        if len(whole) < 76 or whole[0] != 0x10 or any(whole[1:28]):
            self.fail(f"not a PDU of a target: {whole[:28].hex(' ')}")
        pdu = Pdu()
        pdu.bhs, rest = bytearray(whole[28:76]), whole[76:]
        length = int.from_bytes(pdu.bhs[5:8], "big")
        if pdu.bhs[4] or not length <= len(rest) <= length + 4:
            self.fail(f"{len(rest)} bytes behind a header that says {length}")
        pdu.data = rest[:length]
        self.log.append(("<", pdu))
        self.check(pdu)
        return pdu

    def check(self, pdu):
        super().check(pdu)
        if pdu.opcode in (DATA_IN, R2T):
            self.fail("there is no Data-In and no R2T in iSER")
        if self.is_full_feature and self.is_normal and len(pdu.data) > FFP_DATA_MAX:
            self.fail(f"{len(pdu.data)} bytes of data, initiators have room for {FFP_DATA_MAX}")
        if self.is_full_feature and pdu.opcode == NOP_IN and pdu.data:
            self.fail("a NOP-In with data")

    is_normal = True
