# SPDX-License-Identifier: BSD-2-Clause
"""A transaction deletes a LUN that no session uses and creates another under its number; sessions of
all transports write it before the end. commit is refused with the LUN, the session and what to do,
and the transaction stays open; with force=true it commits."""

from transports import *

from protocol import pattern


def test(daemon):
    client = Client(daemon)
    client("create", "/backstores/ramdisk", name="other", size="16M")
    client("begin")
    for path in daemon.paths("luns"):
        check(not isinstance(client("delete", path, lun="0"), str), f"{path}: delete")
        client("create", path, storage_object="/backstores/ramdisk/other", lun="0",
               add_mapped_luns=True)
    peers = daemon.sessions_of_all()
    for peer in peers:
        check(peer.write_block(0, pattern(512)) == GOOD, f"{peer.name}: WRITE")
    for _ in range(2):
        why = client("commit")
        check(isinstance(why, str) and "0: in use by" in why and "force=true" in why, why)
    for peer in peers:
        check(peer.read_block(0) == pattern(512), f"{peer.name}: it was disturbed")
    done = client("commit", force=True)
    check(not isinstance(done, str), done)
    daemon.settle()
    for peer in peers:
        peer.fails((5, 0x25, 0), bytes(6))


main(test)
