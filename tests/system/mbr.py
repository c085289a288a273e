# SPDX-License-Identifier: BSD-2-Clause
"""A boot sector, assembled here: reads the block after it through the BIOS, prints the text in
it on the first serial port, writes the block again one further on, and ends the machine
through QEMU's isa-debug-exit with a code that tells how it went."""

import struct

EXIT_PORT = 0x501
# QEMU's exit status is 2 * code + 1.
GOOD, READ_FAILED, WRITE_FAILED = 0x10, 0x11, 0x12
ORIGIN, BUFFER = 0x7C00, 0x8000

START = bytes.fromhex(
    "fa"      # cli
    "31c0"    # xor ax, ax
    "8ed8"    # mov ds, ax
    "8ec0"    # mov es, ax
    "8ed0"    # mov ss, ax
    "bc007c"  # mov sp, 0x7c00
    "fb"      # sti
    "52")     # push dx: the drive number

PRINT = bytes.fromhex(
    "ac"      # next: lodsb
    "84c0"    # test al, al
    "7412"    # jz end
    "88c4"    # mov ah, al
    "bafd03"  # mov dx, 0x3fd
    "ec"      # wait: in al, dx
    "a820"    # test al, 0x20
    "74fb"    # jz wait
    "baf803"  # mov dx, 0x3f8
    "88e0"    # mov al, ah
    "ee"      # out dx, al
    "ebe9")   # jmp next; end:


def end(code):
    """mov dx, EXIT_PORT; mov al, code; out dx, al; jmp $"""
    return b"\xba" + struct.pack("<H", EXIT_PORT) + b"\xb0" + bytes([code]) + b"\xee\xeb\xfe"


def packet(lba):
    """A disk address packet for int 13h: one block to or from BUFFER."""
    return struct.pack("<BBHHHQ", 16, 0, 1, BUFFER, 0, lba)


def disk(function, packet_at, failure):
    """mov ax, function << 8; mov si, packet; int 13h; jnc over the failure"""
    stop = end(failure)
    return (b"\xb8" + struct.pack("<H", function << 8) + b"\xbe" + struct.pack("<H", packet_at) +
            b"\xcd\x13\x73" + bytes([len(stop)]) + stop)


def build():
    """The 512 bytes."""
    packets = ORIGIN + 0x100
    code = (START + disk(0x42, packets, READ_FAILED) + b"\xbe" + struct.pack("<H", BUFFER) + PRINT +
            b"\x5a" +  # pop dx
            disk(0x43, packets + 16, WRITE_FAILED) + end(GOOD))
    data = packet(1) + packet(2)
    return code.ljust(0x100, b"\0") + data.ljust(0xFE, b"\0") + b"\x55\xaa"
