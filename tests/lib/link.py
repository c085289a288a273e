# SPDX-License-Identifier: BSD-2-Clause
"""A TCP connection of a scripted peer: exact numbers of bytes, a limit in time, and a log that a
failed test shows."""

import os
import socket
import struct
import time

from farblock import Failure

TIMEOUT = float(os.environ.get("FARBLOCK_TEST_TIMEOUT", "120"))


def _crc_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82f63b78 if n & 1 else 0)
        table.append(n)
    return table


_CRC = _crc_table()


def crc32c(data):
    """The four bytes that follow data on the wire (RFC 7143 13.1)."""
    crc = 0xffffffff
    for byte in data:
        crc = _CRC[(crc ^ byte) & 0xff] ^ crc >> 8
    return struct.pack("<I", crc ^ 0xffffffff)


class Closed(Failure):
    """The target has closed the connection."""


class Link:
    def __init__(self, address, timeout=TIMEOUT, source=None):
        self.socket = socket.create_connection(address, timeout, source and (source, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.timeout = timeout
        self.log = []  # (">" or "<", PDU)

    def fail(self, why):
        shown = "\n".join(f"  {way} {pdu}" for way, pdu in self.log[-16:])
        raise Failure(f"{why}\nlast PDUs:\n{shown}")

    def send_bytes(self, raw):
        self.socket.sendall(raw)

    def _read(self, count):
        got = bytearray()
        end = time.monotonic() + self.timeout
        while len(got) < count:
            left = end - time.monotonic()
            if left <= 0:
                self.fail(f"nothing came for {self.timeout} s ({len(got)} of {count} bytes)")
            self.socket.settimeout(left)
            try:
                piece = self.socket.recv(count - len(got))
            except TimeoutError:
                continue
            except ConnectionError as why:
                raise Closed(f"connection reset: {why}") from None
            if not piece:
                raise Closed(f"closed by the target after {len(got)} of {count} bytes")
            got += piece
        return bytes(got)

    def close(self):
        self.socket.close()

    def reset(self):
        """Closes with a TCP reset."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()
