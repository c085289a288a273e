# SPDX-License-Identifier: BSD-2-Clause
"""Overlay files of fileio, made and changed by what backstores/overlay.md says of them, without
farblock's code."""

import os
import struct

BLOCK, HEADER, SAMPLE, ALIGNMENT = 4096, 512, 65536, 1 << 20
MAGIC, VERSION = b"FBOVRLAY", 1
BOOT_ID_AT, BOOT_ID = 48, 16


def _table():
    rows = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82f63b78 if value & 1 else 0)
        rows.append(value)
    return rows


TABLE = _table()


def crc32c(data, crc=0):
    crc ^= 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xff]
    return crc ^ 0xffffffff


def data_offset(base_size):
    maps = (base_size // BLOCK + 7) // 8
    maps = (maps + BLOCK - 1) // BLOCK * BLOCK
    end = BLOCK + 2 * maps
    return (end + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def header(base):
    status = os.stat(base)
    with open(base, "rb") as image:
        first = image.read(SAMPLE)
        image.seek(max(0, status.st_size - SAMPLE))
        last = image.read(SAMPLE)
    seconds, ns = divmod(status.st_mtime_ns, 10 ** 9)
    text = struct.pack("<8sIIQqIIQ", MAGIC, VERSION, BLOCK, status.st_size, seconds, ns,
                       crc32c(last, crc32c(first)), data_offset(status.st_size))
    text = text.ljust(HEADER - 4, b"\0")
    return text + struct.pack("<I", crc32c(text))


def make(path, base, size=None):
    """An empty overlay of the base, of size bytes; returns the size of the file."""
    base_size = os.stat(base).st_size
    end = data_offset(base_size) + (size or base_size)
    rest = base_size % BLOCK
    with open(path, "wb") as out, open(base, "rb") as image:
        out.truncate(end)
        out.write(header(base))
        if rest:
            image.seek(base_size - rest)
            out.seek(data_offset(base_size) + base_size - rest)
            out.write(image.read())
    return end


def forget_boot(path):
    """As after a restart of the machine: what was only noted does not count."""
    with open(path, "r+b") as out:
        text = bytearray(out.read(HEADER - 4))
        text[BOOT_ID_AT:BOOT_ID_AT + BOOT_ID] = bytes(BOOT_ID)
        out.seek(0)
        out.write(text + struct.pack("<I", crc32c(text)))


def blocks(path, base):
    """How many blocks the durable map has."""
    maps = (os.stat(base).st_size // BLOCK + 7) // 8
    with open(path, "rb") as text:
        text.seek(BLOCK)
        return sum(bin(byte).count("1") for byte in text.read(maps))
