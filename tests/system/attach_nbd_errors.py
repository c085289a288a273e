#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""attach --via socket: a request that cannot be done has the error that the NBD protocol wants, and
the client goes on: attach_nbd_errors.py CASE."""

import os
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import Config, Farblockd, Scratch, check, main  # noqa: E402

SIZE = 1 << 20
READ, WRITE, FLUSH, TRIM, CACHE, ZEROES, STATUS = 0, 1, 3, 4, 5, 6, 7
NO_HOLE, DF, REQ_ONE, FAST_ZERO = 2, 4, 8, 16
EPERM, EINVAL, ENOSPC = 1, 22, 28

# Attached with these options, a request (type, flags, offset, length) has this error.
CASES = {
    "writes-beyond-the-end": ((), ENOSPC, ((WRITE, 0, SIZE, 512), (WRITE, 0, SIZE - 512, 1024),
                                           (ZEROES, 0, SIZE, 512))),
    "reads-beyond-the-end": ((), EINVAL, ((READ, 0, SIZE, 512), (TRIM, 0, SIZE, 512))),
    "flags-not-offered": ((), EINVAL, ((READ, NO_HOLE, 0, 512), (READ, DF, 0, 512),
                                       (WRITE, REQ_ONE, 0, 512), (ZEROES, 0x8000, 0, 512),
                                       (FLUSH, FAST_ZERO, 0, 0))),
    "commands-not-offered": ((), EINVAL, ((CACHE, 0, 0, 512), (STATUS, 0, 0, 512),
                                          (99, 0, 0, 512))),
    "read-only": (("--read-only",), EPERM, ((WRITE, 0, 0, 512), (TRIM, 0, 0, 512),
                                            (ZEROES, 0, 0, 512))),
}


class Client:
    """Of simple replies."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(path)
        check(self.receive(18)[:8] == b"NBDMAGIC", "no server of NBD")
        self.socket.sendall(struct.pack(">IQII", 3, 0x49484156454f5054, 1, 0))  # the default export
        check(struct.unpack(">QH", self.receive(10))[0] == SIZE, "another size")

    def receive(self, count):
        got = b""
        while len(got) < count:
            more = self.socket.recv(count - len(got))
            check(more, "the server has closed the connection")
            got += more
        return got

    def error(self, kind, flags, offset, length):
        data = bytes(length) if kind == WRITE else b""
        self.socket.sendall(struct.pack(">IHHQQI", 0x25609513, flags, kind, 9, offset, length) + data)
        magic, error, cookie = struct.unpack(">IIQ", self.receive(16))
        check((magic, cookie) == (0x67446698, 9), f"{magic:#x} {cookie}")
        return error


def test():
    options, wanted, requests = CASES[sys.argv[1]]
    with Scratch() as scratch, Attachments(scratch) as attachments:
        config = Config()
        target = config.target([config.fileio("disk", scratch.file("disk.img"), SIZE,
                                              {"emulate_tpu": 1})])
        with Farblockd(scratch, config):
            attachments.attach(target.url(), "--via", "socket", "--name", "disk", *options)
            client = Client(f"{attachments.run_dir}/disk.nbd")
            found = [client.error(*request) for request in requests]
            check(found == [wanted] * len(requests), f"{requests}: {found}, not {wanted}")
            check(client.error(READ, 0, 0, 512) == 0, "the next read")
            client.socket.close()
            attachments.detach("disk", "--force")


main(test)
