# SPDX-License-Identifier: BSD-2-Clause
"""iWARP as bytes: MPA (RFC 5044, 6581), DDP (RFC 5041), RDMAP (RFC 5040), for a scripted initiator
that keeps its memory, serves RDMA Reads from it and takes RDMA Writes into it, and nothing beyond
what it has advertised."""

import struct

from link import Closed, Link, crc32c

REQUEST_KEY, REPLY_KEY = b"MPA ID Req Frame", b"MPA ID Rep Frame"
MARKERS, CRC, REJECTED, ENHANCED = 0x80, 0x40, 0x20, 0x10
RDMA_WRITE, READ_REQUEST, READ_RESPONSE, SEND, SEND_INV, SEND_SE, SEND_SE_INV, TERMINATE = range(8)


def mpa_request(private=b"", flags=ENHANCED, revision=2, ird=128, orq=1,
                length=None):
    """The frame of the side that connects."""
    body = (struct.pack(">HH", ird, orq) if flags & ENHANCED else b"") + private
    return REQUEST_KEY + struct.pack(">BBH", flags, revision,
                                     len(body) if length is None else length) + body


def fpdu(ulpdu, with_crc=True):
    body = struct.pack(">H", len(ulpdu)) + ulpdu
    body += bytes(-len(body) % 4)
    return body + (crc32c(body) if with_crc else bytes(4))


def untagged(opcode, payload, msn, queue=0, offset=0, last=True, stag=0):
    return struct.pack(">BBIIII", 0x41 if last else 0x01, 0x40 | opcode, stag, queue, msn,
                       offset) + payload


def tagged(opcode, stag, to, payload, last=True):
    return struct.pack(">BBIQ", 0xc1 if last else 0x81, 0x40 | opcode, stag, to) + payload


class Region:
    """Memory that the target may reach, from base on."""

    def __init__(self, stag, base, data, writable):
        self.stag, self.base, self.writable = stag, base, writable
        self.data = bytearray(data)
        self.written = 0  # bytes
        self.is_valid = True

    @property
    def tag(self):
        return self.stag, self.base


class Refused(Closed):
    """The connect was refused, with this private data."""

    def __init__(self, private):
        super().__init__(f"the connect was refused, private data {private.hex()}")
        self.private = private


class RdmaWire(Link):
    """An initiator's end of an RDMA connection."""

    def __init__(self, *where, private=b"", crc=False, segment=0, ird=128, **options):
        super().__init__(*where, **options)
        self.with_crc = crc
        self.segment = segment  # bytes of a Send's segment, 0: all
        self.ird = ird  # RDMA Reads of the target at once
        self.regions, self.next_stag = {}, 0x10100
        self.msn, self.heard_msn = 1, {0: 1, 1: 1, 2: 1}
        self.parts = b""  # of the Send that is coming in
        self.holds_reads, self.held_reads = False, []
        self.reads = self.writes = 0  # requests of the target
        self.invalidated = None  # by the last message
        self.handshake(private)

    # --- MPA ---

    def handshake(self, private):
        self.send_bytes(mpa_request(private, ENHANCED | (CRC if self.with_crc else 0),
                                    ird=self.ird))
        head = self._read(20)
        if head[:16] != REPLY_KEY:
            self.fail(f"not a reply: {head!r}")
        self.reply_flags, self.reply_revision, length = struct.unpack(">BBH", head[16:])
        body = self._read(length)
        if self.reply_flags & REJECTED:
            raise Refused(body[4:] if self.reply_flags & ENHANCED else body)
        if not self.reply_flags & ENHANCED or self.reply_revision != 2 or length < 4:
            self.fail("siw accepts an answer of revision 2 with enhanced data only")
        self.reply_ird, self.reply_ord = struct.unpack(">HH", body[:4])
        self.reply_private = body[4:]
        if not self.reply_ord & 0x3fff or self.reply_ord & 0x3fff > 128:
            self.fail(f"ORD {self.reply_ord}")

    # --- out ---

    def send_ulpdu(self, ulpdu):
        self.send_bytes(fpdu(ulpdu, self.with_crc))

    def message(self, payload, opcode=SEND):
        """The segments of one Send."""
        size, out = self.segment or max(len(payload), 1), b""
        for at in range(0, max(len(payload), 1), size):
            piece = payload[at:at + size]
            out += fpdu(untagged(opcode, piece, self.msn, offset=at,
                                 last=at + size >= len(payload)), self.with_crc)
        self.msn += 1
        return out

    # --- memory ---

    def expose(self, data, writable=False, base=None):
        """Memory for one direction of one command."""
        self.next_stag += 0x101
        region = Region(self.next_stag, 0x7f0000001000 if base is None else base, data, writable)
        self.regions[region.stag] = region
        return region

    def find(self, stag, to, length, writable, what):
        region = self.regions.get(stag)
        if not region or not region.is_valid:
            self.fail(f"{what} names STag {stag:#x}, which is not (or no longer) valid")
        if region.writable != writable:
            self.fail(f"{what} of memory that is for the other direction")
        at = to - region.base
        if at < 0 or at + length > len(region.data):
            self.fail(f"{what} of {length} bytes at {at} of {len(region.data)}")
        return region, at

    # --- in ---

    def _ulpdu(self):
        length, = struct.unpack(">H", self._read(2))
        rest = self._read(length + (-(length + 2) % 4) + 4)
        if self.with_crc and crc32c(struct.pack(">H", length) + rest[:-4]) != rest[-4:]:
            self.fail("CRC of an FPDU is wrong")
        return rest[:length]

    def _tagged(self, opcode, ulpdu):
        stag, to = struct.unpack(">IQ", ulpdu[2:14])
        data = ulpdu[14:]
        if opcode != RDMA_WRITE:
            self.fail(f"tagged message {opcode}")
        region, at = self.find(stag, to, len(data), True, "an RDMA Write")
        region.data[at:at + len(data)] = data
        region.written += len(data)
        if ulpdu[0] & 0x40:
            self.writes += 1

    def _read_request(self, body):
        sink, sink_to, length, source, source_to = struct.unpack(">IQIIQ", body[:28])
        region, at = self.find(source, source_to, length, False, "an RDMA Read")
        self.reads += 1
        self.held_reads.append((sink, sink_to, bytes(region.data[at:at + length])))
        if not self.holds_reads:
            self.serve_reads()

    def serve_reads(self):
        """Answers the RDMA Reads that have come."""
        for sink, to, data in self.held_reads:
            step = 1 << 15
            out = b""
            for at in range(0, max(len(data), 1), step):
                piece = data[at:at + step]
                out += fpdu(tagged(READ_RESPONSE, sink, to + at, piece,
                                   at + step >= len(data)), self.with_crc)
            self.send_bytes(out)
        self.held_reads = []

    def _untagged(self, opcode, ulpdu):
        """The message, if that was its last segment."""
        stag, queue, msn, offset = struct.unpack(">IIII", ulpdu[2:18])
        body, is_last = ulpdu[18:], ulpdu[0] & 0x40
        if opcode == TERMINATE:
            raise Closed(f"terminated: {body[:4].hex()}")
        if queue != (1 if opcode == READ_REQUEST else 0):
            self.fail(f"opcode {opcode} in queue {queue}")
        if msn != self.heard_msn[queue] or offset != len(self.parts):
            self.fail(f"MSN {msn}, offset {offset} where {self.heard_msn[queue]}, "
                      f"{len(self.parts)} is due")
        if is_last:
            self.heard_msn[queue] += 1
        if opcode == READ_REQUEST:
            self._read_request(body)
            return None
        self.parts += body
        if not is_last:
            return None
        whole, self.parts = self.parts, b""
        self.invalidated = stag if opcode in (SEND_INV, SEND_SE_INV) else None
        if self.invalidated is not None:
            if self.invalidated not in self.regions:
                self.fail(f"STag {stag:#x} is invalidated but not valid")
            self.regions[stag].is_valid = False
        return whole

    def turn(self):
        """Takes one FPDU; the message that it completes, or None."""
        ulpdu = self._ulpdu()
        if len(ulpdu) < (14 if ulpdu[0] & 0x80 else 18) or ulpdu[0] & 3 != 1 or ulpdu[1] >> 6 != 1:
            self.fail(f"not a DDP segment: {ulpdu[:32].hex(' ')}")
        if ulpdu[0] & 0x80:
            self._tagged(ulpdu[1] & 0xf, ulpdu)
            return None
        return self._untagged(ulpdu[1] & 0xf, ulpdu)

    def recv_message(self):
        while True:
            whole = self.turn()
            if whole is not None:
                return whole
