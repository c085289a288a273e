# SPDX-License-Identifier: BSD-2-Clause
"""Two hundred channels with the longest list take 64 KiB each and their receive buffers, and leave a
session its memory."""

import os

from srp import *

# What AddressSanitizer keeps of freed memory is not the daemon's.
Daemon.environment = {"ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:quarantine_size_mb=1"}
COUNT = 200
EACH = 256 << 10  # bytes, with what sanitizers put around


def test(daemon):
    other = daemon.session()
    other.write(0, pattern(65536))
    daemon.discovery().targets()
    memory = daemon.memory()
    crowd = [daemon.discovery() for _ in range(COUNT)]
    asked = [peer.send(peer.query()) for peer in crowd]
    other.write(0, pattern(65536, 2))
    for peer, iu in zip(crowd, asked):
        peer.response(iu)
    grown = daemon.memory() - memory
    check(grown < COUNT * EACH, f"{grown >> 10} KiB for {COUNT} channels")
    check(other.read(0, 128) == pattern(65536, 2), "another session's data")


protocol.main(test, make=make_many, kind=SrpDaemon, count=1500)
