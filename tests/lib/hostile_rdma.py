# SPDX-License-Identifier: BSD-2-Clause
"""The target's end of an RDMA connection over iWARP, scripted: it takes messages, writes into and
reads from the memory of the initiator, as far as that lets it. A target answers a request with a
list of actions, which a lie changes."""

import struct

from rdma_raw import (CRC, ENHANCED, READ_REQUEST, READ_RESPONSE, RDMA_WRITE, REJECTED, REPLY_KEY,
                      REQUEST_KEY, SEND, SEND_INV, SEND_SE, SEND_SE_INV, TERMINATE, fpdu, tagged,
                      untagged)

SINK = 0x4242  # the STag of what this end reads into
SENDS = (SEND, SEND_INV, SEND_SE, SEND_SE_INV)
OPTIONS = ("--provider", "iwarp")


def mpa_reply(private, flags=ENHANCED, revision=2, ird=16, ord_=16, key=REPLY_KEY, length=None):
    body = (struct.pack(">HH", ird, ord_) if flags & ENHANCED else b"") + private
    return key + struct.pack(">BBH", flags, revision,
                             len(body) if length is None else length) + body


def mpa_reject(private):
    return mpa_reply(private, ENHANCED | REJECTED)


# --- actions ---

class Send:
    """A message; data follows the bytes of head. head and data are made when it is sent, so that
    their fields can be changed until then."""

    def __init__(self, *parts, stag=None):
        self.parts, self.stag = parts, stag

    def payload(self):
        return b"".join(bytes(p) if isinstance(p, (bytes, bytearray)) else p.message()
                        for p in self.parts)

    def image(self):
        return self.payload(), self.stag

    def run(self, peer):
        opcode = SEND if self.stag is None else SEND_INV
        peer.untagged(opcode, self.payload(), stag=self.stag or 0)


class Write:
    """An RDMA Write."""

    def __init__(self, stag, offset, data):
        self.stag, self.offset, self.data = stag, offset, data

    def image(self):
        return self.stag, self.offset, self.data

    def run(self, peer):
        step = 1 << 15
        for at in range(0, max(len(self.data), 1), step):
            piece = self.data[at:at + step]
            peer.send(tagged(RDMA_WRITE, self.stag, (self.offset + at) & (1 << 64) - 1, piece,
                             at + step >= len(self.data)))


class Read:
    """An RDMA Read; the data that comes is not kept."""

    def __init__(self, stag, offset, length):
        self.stag, self.offset, self.length = stag, offset, length

    def image(self):
        return self.stag, self.offset, self.length

    def run(self, peer):
        peer.untagged(READ_REQUEST, struct.pack(">IQIIQ", SINK, 0, self.length, self.stag,
                                                self.offset & (1 << 64) - 1), queue=1)
        while peer.reads_done < peer.reads:
            peer.turn()


class Bytes:
    """Anything on the wire."""

    def __init__(self, data):
        self.data = data

    def image(self):
        return self.data

    def run(self, peer):
        peer.source.socket.sendall(self.data)


class Segment:
    """A DDP segment in a valid FPDU."""

    def __init__(self, data):
        self.data = data

    def image(self):
        return self.data

    def run(self, peer):
        peer.send(self.data)


def images(actions):
    return [(type(a), a.image()) for a in actions]


# --- the connection ---

class Source:
    def __init__(self, connection):
        self.socket, self.file = connection, connection.makefile("rb")

    def read(self, count):
        got = self.file.read(count)
        if len(got) < count:
            raise OSError("closed")
        return got


class RdmaPeer:
    def __init__(self, connection):
        self.source = Source(connection)
        self.msn = {0: 1, 1: 1}
        self.reads = self.reads_done = 0
        self.messages, self.parts = [], b""
        head = self.source.read(20)
        if head[:16] != REQUEST_KEY:
            raise OSError("not a request of MPA")
        flags, _, length = struct.unpack(">BBH", head[16:])
        body = self.source.read(length)
        self.with_crc = bool(flags & CRC)
        self.private = body[4:] if flags & ENHANCED else body

    def accept(self, reply):
        """reply: bytes of the whole frame."""
        self.with_crc |= bool(reply[16:17] and reply[16] & CRC)
        self.source.socket.sendall(reply)

    def send(self, ulpdu):
        self.source.socket.sendall(fpdu(ulpdu, self.with_crc))

    def untagged(self, opcode, payload, queue=0, stag=0):
        self.send(untagged(opcode, payload, self.msn[queue], queue, stag=stag))
        self.msn[queue] += 1
        self.reads += opcode == READ_REQUEST

    def turn(self):
        """Takes one FPDU."""
        length, = struct.unpack(">H", self.source.read(2))
        ulpdu = self.source.read(length + -(length + 2) % 4 + 4)[:length]
        opcode, is_last = ulpdu[1] & 0xf, ulpdu[0] & 0x40
        if opcode == TERMINATE:
            raise OSError("terminated")
        if opcode == READ_RESPONSE:
            self.reads_done += bool(is_last)
        elif opcode in SENDS:
            self.parts += ulpdu[18:]
            if is_last:
                self.messages.append(self.parts)
                self.parts = b""

    def message(self):
        while not self.messages:
            self.turn()
        return self.messages.pop(0)


class Liar:
    """A target whose lie() changes the actions of an answer; it counts the lies that it told."""

    def changed(self, request, actions, image):
        was = image(actions)
        actions = self.lie and self.lie(self, request, actions) or actions
        self.told += image(actions) != was
        return actions
