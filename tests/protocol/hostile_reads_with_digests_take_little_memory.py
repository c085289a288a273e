# SPDX-License-Identifier: BSD-2-Clause
"""Reads of a RAM disk with data digests that become due all at once, and whose data nobody takes,
are not copied all at once: of what waits little is copied for its digest."""

import os

from protocol import *

# What AddressSanitizer keeps of freed memory is not the daemon's.
Daemon.environment = {"ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:quarantine_size_mb=1"}
READS = 60
BLOCKS = 4096  # 2 MiB a command


def test(daemon):
    peer = daemon.session({"DataDigest": "CRC32C"})
    first = peer.test_unit_ready()
    peer.send(*[peer.read_task(0, BLOCKS) for _ in range(READS)])
    daemon.settle()
    memory = daemon.memory()
    peer.good(first)
    daemon.settle()
    grown = daemon.memory() - memory
    # The disk's own 2 MiB may be read for the first time.
    check(grown < 16 * MIB, f"{grown >> 20} MiB for {READS} reads of 2 MiB")
    peer.close()


main(test)
