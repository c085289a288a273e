# SPDX-License-Identifier: BSD-2-Clause
"""What a machine did with its disk while it started: a relay before a portal that notes each command.

A trace is a file of JSON lines, compressed by gzip. The first line says what was recorded, each other
one is a command: [us from power-on when it was sent, us when its status came, kind, LBA, blocks]."""

import collections
import gzip
import json
import select
import socket
import threading
import time

import farblock_path  # noqa: F401
import iscsi
from farblock import check, free_port

PIECE = 1 << 18
READ, WRITE, FLUSH, OTHER = "read", "write", "flush", "other"
# Operation code: kind, and where in the CDB the LBA and the number of blocks are (offset, bytes).
CODES = {
    0x08: (READ, (1, 3), (4, 1)), 0x28: (READ, (2, 4), (7, 2)), 0xa8: (READ, (2, 4), (6, 4)),
    0x88: (READ, (2, 8), (10, 4)), 0x0a: (WRITE, (1, 3), (4, 1)), 0x2a: (WRITE, (2, 4), (7, 2)),
    0xaa: (WRITE, (2, 4), (6, 4)), 0x8a: (WRITE, (2, 8), (10, 4)), 0x35: (FLUSH, None, None),
    0x91: (FLUSH, None, None)}

Entry = collections.namedtuple("Entry", "sent ended kind lba blocks")


def of_cdb(cdb):
    """(kind, LBA, blocks)"""
    kind, *places = CODES.get(cdb[0], (OTHER, None, None))
    lba, blocks = (int.from_bytes(cdb[at[0]:at[0] + at[1]], "big") if at else 0 for at in places)
    return kind, lba, blocks


class Headers:
    """Finds the basic header segments in a stream of PDUs without digests."""

    def __init__(self):
        self.header, self.skip = bytearray(), 0

    def feed(self, data):
        at = 0
        while at < len(data):
            if self.skip:
                step = min(self.skip, len(data) - at)
                self.skip -= step
            else:
                step = min(48 - len(self.header), len(data) - at)
                self.header += data[at:at + step]
            at += step
            if len(self.header) == 48:
                length = int.from_bytes(self.header[5:8], "big")
                self.skip = self.header[4] * 4 + length + -length % 4
                yield bytes(self.header)
                self.header.clear()


class Recorder:
    """A relay on a port of 127.0.0.1 to a portal. begin() sets time zero."""

    def __init__(self, portal):
        self.portal, self.port = portal, free_port()
        self.entries, self.started, self.lock = [], time.monotonic(), threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self.accept, daemon=True).start()

    def begin(self):
        self.started = time.monotonic()

    def now(self):
        return round((time.monotonic() - self.started) * 1e6)

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
                server = socket.create_connection(self.portal)
            except OSError:
                return
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.carry, args=(client, server), daemon=True).start()

    def carry(self, client, server):
        """One connection, both ways, until an end closes it."""
        sent, ways = {}, {client: (server, Headers()), server: (client, Headers())}
        with client, server:
            while True:
                for end in select.select([client, server], [], [])[0]:
                    other, headers = ways[end]
                    try:
                        data = end.recv(PIECE)
                        if not data:
                            return
                        for header in headers.feed(data):
                            self.note(header, sent)
                        other.sendall(data)
                    except OSError:
                        return

    def note(self, header, sent):
        code, tag = header[0] & 0x3f, header[16:20]
        if code == iscsi.COMMAND:
            sent[tag] = (self.now(), of_cdb(header[32:48]))
        elif code == iscsi.RESPONSE or (code == iscsi.DATA_IN and header[1] & 1):
            at, what = sent.pop(tag)
            with self.lock:
                self.entries.append(Entry(at, self.now(), *what))

    def end(self):
        """No new connections; what was recorded so far, in the order in which it was sent."""
        self.listener.close()
        with self.lock:
            return sorted(self.entries)


def save(path, about, entries):
    with gzip.open(path, "wt", encoding="ascii") as out:
        for line in (about, *entries):
            out.write(json.dumps(line, separators=(",", ":")) + "\n")


def load(path):
    """(what was recorded, [Entry])"""
    with gzip.open(path, "rt", encoding="ascii") as lines:
        about, *entries = (json.loads(line) for line in lines)
    entries = [Entry(*entry) for entry in entries]
    check(any(e.kind == READ for e in entries), f"{path}: has no reads")
    return about, entries
