# SPDX-License-Identifier: BSD-2-Clause
"""A write of 128 KiB in descriptors of 8 KiB: software iWARP receives such pieces with their headers
and copies each byte at most once; of larger ones it copies none."""

from srp import *


def copied(daemon):
    return sum(w["payload_copy_bytes"] for w in daemon.rpc("stats.get")["workers"])


def test(daemon):
    peer = daemon.session()
    data = pattern(131072)
    for size in (8192, 16384):
        pieces = [data[at:at + size] for at in range(0, len(data), size)]
        before = copied(daemon)
        peer.response(peer.send(peer.write_from(peer.indirect(pieces), 0)))
        now = copied(daemon) - before
        check(now <= (len(data) if size <= 8192 else 0),
              f"descriptors of {size} bytes: {now} bytes copied")
        check(peer.read(0, 256) == data, "read back differs")


main(test)
