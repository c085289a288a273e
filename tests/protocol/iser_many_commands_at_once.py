# SPDX-License-Identifier: BSD-2-Clause
"""A whole window of reads and writes in one piece; RDMA Reads stay within the number that was
agreed on, and every byte arrives where it belongs."""

from iser import *


def test(daemon):
    peer = daemon.session(kind=IserPeer)
    writes = [peer.write_from(peer.write_task(i * 16, 16, data=pattern(8192, i)[:4096]),
                              pattern(8192, i), 4096) for i in range(64)]
    peer.send(*writes)
    for _ in writes:
        check(peer.expect(RESPONSE).status == GOOD, "a write failed")
    reads = [peer.read_into(peer.read_task(i * 16, 16), 8192) for i in range(64)]
    peer.send(*reads)
    for _ in reads:
        check(peer.expect(RESPONSE).status == GOOD, "a read failed")
    for i, pdu in enumerate(reads):
        check(bytes(pdu.region.data) == pattern(8192, i), f"read {i} differs")


main(test)
