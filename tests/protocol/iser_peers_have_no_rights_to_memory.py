# SPDX-License-Identifier: BSD-2-Clause
"""RDMA Writes and Reads by the initiator, to any STag, that of a sink of an RDMA Read in flight
included, end its connection and change nothing."""

import struct

from iser import *


def held(peer):
    peer.held_write()
    sink, to, _ = peer.held_reads[0]
    return sink, to


def test(daemon):
    for stag in (0, 1, 0x100, 0x101, 0x10000, 0xffffffff, None):
        for is_read in (False, True):
            peer = daemon.session(kind=IserPeer)
            name, to = held(peer) if stag is None else (stag, 0)
            if is_read:
                body = struct.pack(">IQIIQ", 0x10201, 0, 4096, name, to)
                peer.send_ulpdu(untagged(READ_REQUEST, body, 1, queue=1))
            else:
                peer.send_ulpdu(tagged(RDMA_WRITE, name, to, b"\xee" * 4096))
            peer.holds_reads = True
            try:
                while True:
                    check(peer.turn() is None, "an answer")
            except Closed:
                pass
            peer.close()
    peer = daemon.session(kind=IserPeer)
    check(peer.read(0, 128) == bytes(65536), "the disk has changed")


main(test)
