# SPDX-License-Identifier: BSD-2-Clause
"""RDMA Writes and Reads by the initiator, to any STag, that of a sink of an RDMA Read in flight
included, end its channel and change nothing."""

from srp import *


def test(daemon):
    for stag in (0, 1, 0x100, 0x10000, 0xffffffff, None):
        for is_read in (False, True):
            peer = daemon.session()
            name, to = stag, 0
            if stag is None:
                peer.held_write()
                name, to, _ = peer.held_reads[0]
            if is_read:
                peer.send_ulpdu(untagged(READ_REQUEST, struct.pack(">IQIIQ", 0x10201, 0, 4096, name,
                                                                   to), 1, queue=1))
            else:
                peer.send_ulpdu(tagged(RDMA_WRITE, name, to, b"\xee" * 4096))
            try:
                while True:
                    check(peer.turn() is None, "an answer")
            except Closed:
                pass
            peer.close()
    check(daemon.session().read(0, 128) == bytes(65536), "the disk has changed")


main(test)
