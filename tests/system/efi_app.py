# SPDX-License-Identifier: BSD-2-Clause
"""A UEFI application of any size, assembled here: adds up the random data that most of it is, prints
a message on the first serial port if the sum is right, and ends the machine through QEMU's
isa-debug-exit with mbr.GOOD or mbr.READ_FAILED."""

import os
import struct

from mbr import EXIT_PORT, GOOD, READ_FAILED

HEADERS, SECTION = 0x400, 0x1000  # where the section is in the file and in memory
CODE = 0x1000  # room for the code, then the data


def end(status):
    """mov dx, EXIT_PORT; mov al, status; out dx, al; jmp $"""
    return (b"\x66\xba" + struct.pack("<H", EXIT_PORT) + b"\xb0" + bytes([status]) +
            b"\xee\xeb\xfe")


def put(letter):
    return (b"\x66\xba\xfd\x03"      # mov dx, 0x3fd
            b"\xec\xa8\x20\x74\xfb"  # wait: in al, dx; test al, 0x20; jz wait
            b"\x66\xba\xf8\x03\xb0" + bytes([letter]) + b"\xee")  # mov dx, 0x3f8; mov al; out dx


def code(words, total, message):
    failed = end(READ_FAILED)
    return (b"\xfa"                                          # cli
            b"\x48\x8d\x35" + struct.pack("<i", CODE - 8) +  # lea rsi, [rip + data]
            b"\x48\xc7\xc1" + struct.pack("<i", words) +     # mov rcx, words
            b"\x31\xc0"                                      # xor eax, eax
            b"\x48\x03\x06\x48\x83\xc6\x08"                  # next: add rax, [rsi]; add rsi, 8
            b"\x48\xff\xc9\x75\xf4"                          # dec rcx; jnz next
            b"\x48\xbb" + struct.pack("<Q", total) +         # mov rbx, total
            b"\x48\x39\xd8\x74" + bytes([len(failed)]) +     # cmp rax, rbx; je over the failure
            failed + b"".join(map(put, message)) + end(GOOD))


def headers(size):
    """PE32+ with one section of size bytes, which begins with the code."""
    image = SECTION + size + -size % SECTION
    coff = struct.pack("<4sHHIIIHH", b"PE", 0x8664, 1, 0, 0, 0, 240, 0x22)
    optional = struct.pack("<HBBIIIIIQII", 0x20b, 0, 0, size, 0, 0, SECTION, SECTION, 0, SECTION, 512)
    optional += struct.pack("<HHHHHHIIIIHH", 0, 0, 0, 0, 0, 0, 0, image, HEADERS, 0, 10, 0)
    optional += struct.pack("<QQQQII", 0, 0, 0, 0, 0, 16) + bytes(16 * 8)
    section = struct.pack("<8sIIII12xI", b".text", size, SECTION, size, HEADERS, 0xe0000020)
    return (b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + coff + optional + section).ljust(
        HEADERS, b"\0")


def build(size, message):
    """An application of size bytes, a multiple of 512, that prints message."""
    data = os.urandom(size - HEADERS - CODE)
    words = struct.unpack(f"<{len(data) // 8}Q", data)
    body = code(len(words), sum(words) % (1 << 64), message.encode()).ljust(CODE, b"\0")
    assert len(body) == CODE and not size % 512, "the message is too long, or no whole blocks"
    return headers(size - HEADERS) + body + data
