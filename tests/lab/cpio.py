#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""cpio.py FOLDER: the folder as an initramfs (cpio "newc") on standard output, all root's."""

import os
import stat
import sys


def entry(name, mode, body, number):
    fields = [number, mode, 0, 0, 1, 0, len(body), 0, 0, 0, 0, len(name) + 1, 0]
    head = b"070701" + b"".join(b"%08x" % f for f in fields) + name.encode() + b"\0"
    return head + bytes(-len(head) % 4) + body + bytes(-len(body) % 4)


def walk(top):
    for folder, subs, files in os.walk(top):
        for name in sorted(subs) + sorted(files):
            yield os.path.join(folder, name)


def main():
    top, number = sys.argv[1], 0
    for number, path in enumerate(walk(top), 1):
        mode, body = os.lstat(path).st_mode, b""
        if stat.S_ISREG(mode):
            with open(path, "rb") as file:
                body = file.read()
        sys.stdout.buffer.write(entry(os.path.relpath(path, top), mode, body, number))
    sys.stdout.buffer.write(entry("TRAILER!!!", 0, b"", number + 1))


main()
